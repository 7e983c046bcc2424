"""What a pipeline makes of files that are not there: elements as the trace of its function says.

A function that is mapped over names, records or lines of such files is traced, and so judged, but
not run: what it gives has the shapes and the types that its trace has. A size that the trace leaves
open is the simplest.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, privates, table
from tpudiag.sources.job.tensorflow.input.pipelines import NOT_RUN

from .buffers import MOST_BYTES, example_bytes
from .ledger import MARKER, SIZE, TEXTS, Ledger

_OPEN = 32
_COLOURS = (1, 3, 4)
_BATCHED = ("BatchDataset", "ParallelBatchDataset")
_READERS = (b"RecordDataset", b"TextLineDataset")
"""In the graph of a function that opens files: what it is given are paths, whatever their names."""
_LOOSE = "_tpudiag_loose"
"""Marks a dataset whose elements have not even the dimensions of the real ones."""


class Elements:
    """Fills what is mapped over stand-ins; `is_away` tells a name or path that reaches nothing."""

    def __init__(
        self, tf: Library, ledger: Ledger, is_away: Callable[[object, bool], bool]
    ) -> None:
        self._tf, self._ledger, self._is_away = tf, ledger, is_away
        self._busy = False
        hooks.around(table.DATASET_MADE, self._made)

    def _made(self, original: Call, dataset: object, variant: object, *args: object) -> object:
        """A dataset is made, of the operation that gives its elements."""
        filled = None
        if not self._busy and self._tf.executing_eagerly():
            if self._ledger.any and type(dataset).__name__.strip("_") == "CacheDataset":
                uncached = hooks.quietly(self._uncached, dataset)
                variant = variant if uncached is None else uncached
            with hooks.instead(self, _busy=True):
                filled = hooks.quietly(self._filled, dataset)
        if filled is not None:
            setattr(dataset, NOT_RUN, True)
            variant = privates.VARIANT.of(filled)
        return original(dataset, variant, *args)

    def _filled(self, dataset: Any) -> Any:
        """What gives a dataset's elements in the place of its function; None for what is real."""
        if self._ledger.any and privates.DROP_REMAINDER.of(dataset, False):
            return self._whole(dataset)
        function = privates.MAP_FUNCTION.of(dataset, None)
        reads = type(getattr(function, "output_structure", None)).__name__ == "DatasetSpec"
        padded = type(dataset).__name__.strip("_") == "PaddedBatchDataset"
        # Until something is away, names of files are looked at alone.
        if (function is None and not padded) or not (reads or self._ledger.any):
            return None
        source = privates.inputs(dataset)[0]
        if padded and not any(getattr(each, _LOOSE, False) for each in _chain(source)):
            return None
        specs = self._tf.nest.flatten(getattr(dataset, "element_spec", None))
        if not all(hasattr(spec, "dtype") for spec in specs) or not self._is_of_stand_ins(
            source, reads and _opens_files(function)
        ):
            return None
        for spec in specs:
            self._ledger.ask(spec.shape.as_list() if spec.shape.rank else [])
        if any(spec.shape.rank is None for spec in specs):
            setattr(dataset, _LOOSE, True)
        text = None
        with suppress(self._tf.errors.NotFoundError):
            text = next(self._texts(source), None)
        rows = [] if text is None else text.shape.as_list()
        rows = [int(privates.BATCH_SIZE.of(dataset, 0))] if padded else rows
        if reads:
            records = self._tf.data.Dataset.range(self._ledger.records)
            source = source.flat_map(self._plain(lambda *_: records))

        def made(at: object, *_: object) -> object:
            return self._tf.nest.map_structure(
                lambda spec: self._value(spec, at, rows), dataset.element_spec
            )

        # Not serial: this map is no line of the script's.
        return source.enumerate().map(self._plain(made), self._tf.data.AUTOTUNE)

    def _uncached(self, dataset: Any) -> Any:
        """What a cache is made of, where stand-ins would fill gigabytes of this machine."""
        source = privates.inputs(dataset)[0]
        rows, size = int(source.cardinality()), example_bytes(source.element_spec)
        return None if 0 <= rows * size <= MOST_BYTES else privates.VARIANT.of(source)

    def _whole(self, dataset: Any) -> Any:
        """A whole batch, where there are too few elements for one; None where there are not."""
        source, size = privates.inputs(dataset)[0], int(privates.BATCH_SIZE.of(dataset, 0))
        few = type(dataset).__name__.strip("_") in _BATCHED and 0 < int(source.cardinality()) < size
        return source.repeat(size).batch(size, drop_remainder=True) if few else None

    def _plain(self, function: Call) -> Call:
        """A function that AutoGraph does not look into."""
        plain: Call = self._tf.autograph.experimental.do_not_convert(function)
        return plain

    def _is_of_stand_ins(self, dataset: Any, of_paths: bool) -> bool:
        """Whether the first element of a dataset is, or names, what is not there."""
        if any(getattr(each, _LOOSE, False) for each in _chain(dataset)):
            return True
        try:
            texts = [self._tf.reshape(text, [-1])[:1].numpy() for text in self._texts(dataset)]
        except self._tf.errors.OpError as error:
            return isinstance(error, self._tf.errors.NotFoundError)
        firsts = [text for each in texts for text in each.tolist()]
        # Beside a whole path tensorflow_datasets has the name alone.
        there = {os.path.basename(text) for text in firsts if os.path.isfile(text)}
        asked = (text for text in firsts if os.path.basename(text) not in there)
        away = next((text.decode() for text in asked if self._is_away(text, of_paths)), None)
        if away is not None and not away.startswith(self._ledger.folder):
            count = int(dataset.cardinality())
            self._ledger.note(away + (f" and {count - 1} more" if count > 1 else ""))
        return away is not None or any(MARKER.encode() in text for text in firsts)

    def _texts(self, dataset: Any) -> Iterator[Any]:
        """The texts of a dataset's first element."""
        nest, string = self._tf.nest, self._tf.string
        if any(getattr(spec, "dtype", 0) == string for spec in nest.flatten(dataset.element_spec)):
            for first in dataset.take(1):
                parts = nest.flatten(first)
                yield from (p for p in parts if p.dtype == string and hasattr(p, "numpy"))

    def _value(self, spec: Any, at: Any, rows: Any) -> Any:
        """A value of a spec: numbers and texts turn from one element to the next."""
        tf, sizes = self._tf, spec.shape.as_list() if spec.shape.rank else []
        of_picture = len(sizes) > 2 and sizes[-1] in _COLOURS
        open_size = SIZE if of_picture else _OPEN
        self._ledger.choose({open_size} if None in sizes else ())
        known = [size or open_size for size in sizes]
        known[: len(rows)] = (s or row for s, row in zip(sizes, rows, strict=False))
        text = tf.gather(tf.constant(TEXTS), at % 2)
        value = tf.fill(known, text if spec.dtype == tf.string else tf.cast(at % 2, spec.dtype))
        kind = type(spec).__name__
        if kind == "SparseTensorSpec":
            return tf.sparse.from_dense(value)
        return tf.RaggedTensor.from_tensor(value) if kind == "RaggedTensorSpec" else value


def _opens_files(function: Any) -> bool:
    """Whether a function that gives datasets reads files."""
    graph: bytes = function.function.graph.as_graph_def().SerializeToString()
    return any(reader in graph for reader in _READERS)


def _chain(dataset: Any) -> Iterator[Any]:
    """A dataset and those that it is made of."""
    yield dataset
    for each in privates.inputs(dataset):
        yield from _chain(each)
