"""Reads the traced training step: operations, loss, numerics, and its lowering for XLA.

Called by `step_reader` and `observation` once a step was seen.
"""
