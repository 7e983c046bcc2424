"""Causes of a slowdown: figures of the host and the job, before and since, and their meaning."""
