"""Why a job became slower: figures of the host and the job, before and now, and what they show."""
