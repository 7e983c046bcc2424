"""Reads tf.data pipelines, and measures a slow one against its fixed version.

Called by the watch of pipelines, and for the input benchmark.
"""
