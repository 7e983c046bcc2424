"""What is read from tf.data pipelines, and the timing of a faulty one against its mended twin.

Called by the watch of pipelines, and for the input benchmark.
"""
