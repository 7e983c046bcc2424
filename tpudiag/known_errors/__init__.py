"""Known errors: what is known of each, and the search for them in texts and logs."""
