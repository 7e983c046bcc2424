"""What makes a rehearsal short: fewer batches, answered steps, shortened epochs and predictions.

Called by `whole_script`, once the first loop was observed.
"""
