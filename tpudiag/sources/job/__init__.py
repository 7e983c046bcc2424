"""A training job run under observation in a child process.

The parent (`runner`) starts the child (`child`), which runs the script with hooks on TensorFlow's
public interfaces; facts cross a pipe as lines of JSON (`protocol`) and become Signals.
"""
