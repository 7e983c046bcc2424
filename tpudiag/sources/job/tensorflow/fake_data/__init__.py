"""Stands in for data that cannot be reached from this machine, for `--fake-data`.

Standard library and the job's own TensorFlow only. What is there is used as it is.

**Made when asked for, by what it is used for.** A value that is missing begins as unknown, and each
use of it tells more: what is still open at the end is the simplest there is. No list of names is
asked where running can tell.

- A *hole* (`holes.py`) takes any use, and each use of one is another; what was done with it (the
  shape, the batch) is kept.
- A *statement* (`statements.py`) of the script's top level or main function that fails for lack of
  data does not end the rehearsal: what it would have set becomes a hole. Never one that trains, nor
  an error that no data brings about. The report names what was passed over.
- A *model* (`filling.py`) knows what it takes. Where it is given a hole, or what was stood in for
  and it cannot take, its inputs, outputs and loss say what an example is; of such data there is no
  end. The pipeline is then none of the job's, and is not judged.
- A *table* (`open_tables.py`, `open_columns.py`), a *data set of a hub* (`hub_datasets.py`): pandas
  or the package looks for a column; what it does not find is made, and the look-up done again. What
  a column holds follows from its uses (`column_values.py`), how wide rows are from the shape that
  is asked of them (`open_arrays.py`).
- A *record* (`records.py`) holds what the script's own parse function asks for; what is decoded of
  it takes the size that a shape asks, in the graph that asks (`images.py`).
- A *path* (`paths.py`, `files.py`, `folders.py`, `opened_files.py`, `archives.py`) of a bucket or
  of a notebook host's folder leads to a file whose records or lines begin with `MARKER`.
- A *hub* (`hub.py`, `pretrained.py`, `keras_data.py`, `tfds_data.py`): a model or tokenizer of the
  right build, untrained.

What still asks the script's text (`program_text.py`), and why: classes that names of files carry
and the number in such a name are read before anything uses them, and whether pictures are decoded
decides how many records a file has when it is written. What still goes by a name: a batch, of which
a listing must hold some before the first is made (`batch_sizes.py`, by what names stand
for); a column that is handed on whole (`column_values.by_name`), which no use tells from any other;
the sizes of well-known data sets and models, which scripts write down.
"""
