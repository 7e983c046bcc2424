"""TensorBoard, as far as tests use it."""
