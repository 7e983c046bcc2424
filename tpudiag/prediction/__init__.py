"""Predicts a training step's time from the TPU compiler's optimised program."""
