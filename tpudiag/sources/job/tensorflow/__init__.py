"""Observes a TensorFlow job in its own process: hooks, replacements, graphs."""
