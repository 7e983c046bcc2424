"""The error desk: what an error of TensorFlow on TPU means, and what mends it."""
