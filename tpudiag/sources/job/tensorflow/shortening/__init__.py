"""Shortens a rehearsal: fewer batches, skipped steps, shortened epochs and predictions.

Called by `whole_script`, once the first loop was observed.
"""
