"""First on PYTHONPATH of the Pythons that a job starts: `sitecustomize` blocks what they send."""
