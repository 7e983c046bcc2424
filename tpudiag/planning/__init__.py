"""Chooses TPU and batch by the TPU compiler's answers."""
