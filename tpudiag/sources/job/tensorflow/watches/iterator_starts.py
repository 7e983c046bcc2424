"""Watches where a loop starts reading its datasets, and how often between training steps."""

import linecache
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import mean, median

from tpudiag.model import Location
from tpudiag.signals.training_loop import IteratorUse
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Dataset
from tpudiag.sources.job.tensorflow.input import cardinality, files
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader

_ASKS_ONCE = re.compile(r"\bnext\s*\(\s*iter\s*\(|\biter\s*\([^()]*\)\s*\.\s*(get_next|next)\b")
MOST_KEPT = 10_000
"""The most starts remembered for one line."""


@dataclass
class _Line:
    """The starts at one line with the same callers: a helper reads many datasets."""

    location: Location
    at_step: list[int] = field(default_factory=list[int])
    took_ms: list[float] = field(default_factory=list[float])
    datasets: dict[int, object] = field(default_factory=dict[int, object])
    """By their ids, which are not reused while they are kept."""
    last: Dataset | None = None


class IteratorStartWatch:
    """Hooks `iter` of datasets and distributed datasets."""

    def __init__(self, tf: Library, steps: Callable[[], int]) -> None:
        """`steps` returns the number of training steps dispatched so far."""
        self._tf, self._steps = tf, steps
        self._lines: dict[tuple[user_lines.Line, ...], _Line] = {}
        self._sources: dict[int, tuple[object, Dataset]] = {}
        hooks.around(table.DATASET_READ, self._start)
        hooks.around(table.DISTRIBUTED_DATASETS, self._start)
        hooks.after(table.STRATEGY_DISTRIBUTES, self._distribute, gives=True)

    def facts(self) -> tuple[IteratorUse, ...]:
        """The lines that started reading more than once."""
        return tuple(self._use(line) for line in self._lines.values() if len(line.at_step) > 1)

    def _distribute(
        self, distributed: object, _: object, dataset: Dataset, *__: object, **___: object
    ) -> None:
        self._sources[id(distributed)] = distributed, dataset

    def _start(self, original: Call, dataset: Dataset) -> object:
        location = user_lines.direct_caller() if self._tf.executing_eagerly() else None
        if location is None:
            return original(dataset)
        began = time.perf_counter()
        iterator = original(dataset)
        line = self._lines.setdefault(user_lines.stack(), _Line(location))
        if len(line.at_step) < MOST_KEPT:
            line.at_step.append(self._steps())
            line.took_ms.append((time.perf_counter() - began) * 1e3)
            # The number of datasets per line distinguishes a pipeline rebuilt in a loop from one
            # read again.
            line.datasets[id(dataset)] = dataset
        line.last = dataset
        return iterator

    def _use(self, line: _Line) -> IteratorUse:
        location = line.location
        gaps = [after - before for before, after in pairwise(line.at_step)]
        assert line.last is not None
        source = self._sources.get(id(line.last), (None, line.last))[1]
        text = linecache.getline(location.file, location.line or 0)
        return IteratorUse(
            times=len(line.at_step),
            datasets=len(line.datasets),
            steps_between=median(gaps),
            cardinality=cardinality.known(source),
            cached=any(
                "Cache" in type(each).__name__ and not files.cache_file(each)
                for each in DatasetReader(self._tf).chain(source)
            ),
            # The first start also creates what later ones reuse: threads, files, the pipeline's
            # graph.
            start_ms=mean(line.took_ms[1:]),
            asks_once=bool(_ASKS_ONCE.search(text)),
            location=location,
        )
