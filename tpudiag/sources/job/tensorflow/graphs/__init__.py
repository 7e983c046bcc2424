"""What is read from the traced training step: operations, loss, numbers, and its lowering for XLA.

Called by `step_reader` and `observation` once a step was seen.
"""
