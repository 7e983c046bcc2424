"""Diagnoses TensorFlow training jobs on TPU: before, during and after they run."""

__version__ = "0.1.0"
