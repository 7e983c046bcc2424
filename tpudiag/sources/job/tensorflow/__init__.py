"""What is observed of a TensorFlow job, in its own process: hooks, stand-ins, graphs."""
