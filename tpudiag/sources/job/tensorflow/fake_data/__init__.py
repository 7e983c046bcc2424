"""Stands in for data that cannot be reached from this machine, for `--fake-data`.

Standard library and the job's own TensorFlow only. What is there is used as it is.

**A value that is not there is unknown, and each use of it narrows what it is.** A wrong guess is
worse than an unknown value: observe the run; do not match names or read the source for it.

- A *hole* (`holes.py`) takes any use, and each use gives another, which knows more: the shape
  (`hole_sizes.py`), the batch, how many were counted. A *statement* (`statements.py`) of the
  script, of its functions or of its own modules that fails for lack of data or of a package
  (`missing_data_errors.py`) sets holes. Never one that trains, nor for an error that is not due
  to data. A *model* (`filling.py`,
  `dataset_holes.py`, `model_holes.py`) tells at last what a hole is, by its inputs, outputs and
  loss; a function that JAX jits, by what it can be traced with (`jitted_holes.py` of its room). A
  pipeline that was filled in is none of the job's, and is not judged. A table of pandas is a hole,
  too (`holes.of_table`).
- TensorFlow runs no function over *elements* of files that are away (`elements.py`): it traces it,
  and the trace says what comes of them, so that the script's own pipeline is still judged.
- A *path* (`paths.py`, `files.py`): each call that takes one is a row, answered where the path is
  away; of a dataset few are held at once (`buffers.py`).
- A *hub* (`hub.py`, `pretrained.py`, `keras_data.py`, `tfds_data.py`) gives a model of the right
  build, untrained, for a layer of another would be another step; the rest of it is holes.

What still goes by a name, which no use tells: a batch (`batch_sizes.py`); the builds of
well-known models and the sizes of keras.datasets. What still asks the text: whether a line that
failed for a file was to write it (`missing_data_errors.py`). `modules.py` has what notebook hosts
import.
"""
