"""The time of a training step, predicted from the program that the TPU compiler made of it."""
