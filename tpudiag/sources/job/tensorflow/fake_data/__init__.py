"""Stands in for data that cannot be reached from this machine, for `--fake-data`.

Standard library and the job's own TensorFlow only. What is there is used as it is.

**Made on access, its type inferred from its use; what cannot be made so is a hole**, a placeholder.
A wrong guess is worse than a hole: observe the run; do not match names or read the source for it.

- A *hole* (`holes.py`) takes any use, and each use of one is another, which knows more: the shape,
  the batch, how many were counted. Data sets, metrics, tokenizers and processors
  of hubs, models that were saved in a bucket and folders that Keras reads are holes.
- A *statement* (`statements.py`, `missing_data_errors.py`) of the script's top level or main
  function that fails for lack of data or of a package does not end the rehearsal: what it would
  have set becomes a hole. So do calls elsewhere whose result is unused. Never one that trains, nor
  for an error that is not due to data.
- A *model* (`filling.py`) knows what it takes. Where it is given a hole, or what was stood in for
  and it cannot take, its inputs, outputs and loss say what an example is; of such data there is no
  end. The pipeline is then none of the job's, and is not judged. A function that JAX jits is given
  arrays that it can be traced with (`jitted_holes.py`).
- A *table* (`open_tables.py`): pandas looks for a column; what it does not find is made, and the
  look-up done again. What a column holds (`open_columns.py`), and how wide rows are
  (`open_values.py`), follows from its uses.
- A *record* (`records.py`) holds what the script's own parse function asks for; what is decoded of
  it takes the size that a shape asks, in the graph that asks (`images.py`).
- A *path* (`paths.py`, `files.py`): each call that takes one is a row, answered where the path is
  away. A dataset of files reads records or lines that begin with `MARKER`
  (`datasets_of_files.py`, `text_files.py`).
- A *hub* (`hub.py`, `pretrained.py`, `keras_data.py`, `tfds_data.py`): a model of the right build,
  untrained, for a layer of another would be another step; a builder of tensorflow_datasets has
  records.

What remains beside holes: libraries that look into what they are given take none, so that pandas
gets tables, TensorFlow files, records and decoded tensors, by which the script's own pipeline is
still judged, and Keras models of the right build. What still goes by a name, which no use tells: a
batch (`batch_sizes.py`); texts and names of files among columns that are handed on whole; sides of
pictures in records; the builds of well-known models and the sizes of keras.datasets. What still
asks the text: whether a line that failed for a file was to write it (`missing_data_errors.py`).
`modules.py` has what notebook hosts import.
"""
