"""The TPU compiler, run without a TPU: programs in, figures out."""
