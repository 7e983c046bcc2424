"""Replaces the TPU: resolver, system, strategy, and CPU replicas that act as cores.

Called by the observer alone, when TensorFlow was imported.
"""
