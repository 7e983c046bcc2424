"""Stands in for data that cannot be reached from this machine, for `--fake-data`.

Standard library and the job's own TensorFlow only. A file that is not there becomes one of
records, lines or bytes that begin with `MARKER`; what parses or decodes them is handed, in the
graph, what it asks for. So the job's own pipeline runs, operation by operation.
"""
