"""Known errors of TensorFlow and JAX on TPU, with their causes and fixes."""
