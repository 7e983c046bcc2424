"""Gives no CPU replica an empty batch, for which oneDNN's convolutions return a wrong shape.

A TPU replica left empty by the data's last batch computes nothing. On a CPU the output of a
convolution over no examples has the channels of its input (the next one fails: "input depth must be
evenly divisible by filter depth"), and a batch norm's gradient is NaN (TensorFlow 2.21). So an
uneven batch is split evenly, and replicas without an example get a copy of one: for a batch with
fewer examples than replicas, and a host's last batches.
Where the hooked names moved, replicas stay empty.
"""

import itertools
from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, Library, hooks, interventions, table
from tpudiag.sources.job.points.library_objects import Dataset
from tpudiag.sources.job.tensorflow.shortening.thin_batches import as_element


class FullReplicas:
    """Hooks how tf.distribute passes batches to replicas."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._sizes: list[list[tuple[int, int]]] = []
        """During predictions, innermost last: the rows of each batch, real and with copies."""
        hooks.around(table.REBATCHED, self._rebatch)
        hooks.around(table.DUMMY_VALUES, self._values)

    def watch_keras(self, keras: Library) -> None:
        """Hook the predictions of a Keras, whose rows must be exact."""
        hooks.around(table.PREDICT, self._predict, keras)

    def _predict(self, original: Call, *args: object, **kwargs: object) -> object:
        """A prediction's result without the rows of copies."""
        sizes: list[tuple[int, int]] = []
        self._sizes.append(sizes)
        try:
            result = original(*args, **kwargs)
        finally:
            self._sizes.pop()
        if all(real == made for real, made in sizes):
            return result
        # For each row whether it is real, and no copy.
        kept = [row < real for real, made in sizes for row in range(made)]

        def leaf(rows: Any) -> object:
            known = getattr(rows, "shape", None) and len(rows) <= len(kept)
            return rows[list(itertools.compress(range(len(rows)), kept))] if known else rows

        return self._tf.nest.map_structure(leaf, result)

    def _rebatch(
        self,
        original: Call,
        distributed: object,
        dataset: Dataset,
        workers: object,
        replicas: int,
    ) -> object:
        fills = interventions.allowed(InterventionKind.ROWS)
        if not fills or workers != 1 or not self._may_leave_one_empty(dataset, replicas):
            return original(distributed, dataset, workers, replicas)
        sizes = self._sizes[-1] if self._sizes else None

        def split(given: Dataset, _: object) -> object:
            return given.flat_map(self._pieces(replicas, sizes)).prefetch(replicas)

        return split

    def _may_leave_one_empty(self, dataset: Dataset, replicas: int) -> bool:
        """Whether batches of plain tensors may not divide by the replicas."""
        parts = self._tf.nest.flatten(dataset.element_spec)
        plain = all(isinstance(each, self._tf.TensorSpec) and each.shape.rank for each in parts)
        sizes: set[int | None] = {each.shape[0] for each in parts} if plain else set()
        return any(size is None or size < replicas for size in sizes)

    def _pieces(self, replicas: int, sizes: list[tuple[int, int]] | None) -> Call:
        """Splits a batch into one piece per replica, of sizes that differ by at most one."""
        tf, at = self._tf, interventions.here()

        def note(rows: int) -> int:
            if rows % replicas:
                interventions.note(InterventionKind.ROWS, at)
            if sizes is not None:
                sizes.append((int(rows), max(int(rows), replicas)))
            return rows

        def pieces(*element: object) -> object:
            rows = tf.shape(tf.nest.flatten(element)[0], out_type=tf.int64)[0]
            uneven = rows % replicas > 0 if sizes is None else tf.constant(True)
            noted = partial(tf.numpy_function, note, [rows], tf.int64)
            rows = tf.ensure_shape(tf.cond(uneven, noted, lambda: rows), [])
            least, more = rows // replicas, rows % replicas

            def piece(number: Any) -> object:
                first = number * least + tf.minimum(number, more)
                last = first + least + tf.cast(number < more, tf.int64)
                # With fewer rows than replicas, repeat the first ones.
                copied = number % tf.maximum(rows, 1)
                first = tf.where(rows < replicas, copied, first)
                last = tf.where(rows < replicas, copied + 1, last)

                def rows_of(part: Any) -> object:
                    return part[first:last]

                return as_element(tf.nest.map_structure(rows_of, element))

            as_written = tf.autograph.experimental.do_not_convert
            return tf.data.Dataset.range(replicas).map(as_written(piece))

        written: Call = tf.autograph.experimental.do_not_convert(pieces)
        return written

    def _values(
        self,
        original: Callable[..., list[object]],
        workers: object,
        optionals: object,
        produce_dummy: object,
    ) -> object:
        """Each replica's values of a round; a row of the first one's where it has none."""
        tf, values = self._tf, original(workers, optionals, produce_dummy)
        if not (produce_dummy and interventions.allowed(InterventionKind.ROWS)):
            return values

        def filled(first: Any, value: Any) -> object:
            if not (isinstance(value, tf.Tensor) and value.shape.rank):
                return value
            lacks = tf.logical_and(tf.shape(value)[0] == 0, tf.shape(first)[0] > 0)
            if tf.executing_eagerly():
                if lacks:
                    interventions.note(InterventionKind.ROWS)
                return first[:1] if lacks else value
            made = tf.cond(lacks, lambda: first[:1], lambda: value)
            made.set_shape([None, *first.shape[1:]])
            return made

        return [
            values[0],
            *(tf.nest.map_structure(filled, values[0], value) for value in values[1:]),
        ]
