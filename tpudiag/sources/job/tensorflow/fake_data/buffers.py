"""One stand-in is as good as another: few are held at once, none skipped for want of more."""

import importlib
from contextlib import suppress
from functools import partial
from math import prod
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, hooks, interventions, table
from tpudiag.sources.job.tensorflow.input.dataset_reader import ASKED_BUFFER

from .ledger import SIZE, Ledger

MOST, MOST_BYTES, AHEAD = 64, 1 << 28, 2
"""Elements that are shuffled together, their size (an element may be a batch), or read ahead."""
_UNKNOWN = -2
"""The cardinality of a dataset whose elements only reading counts."""


def install(ledger: Ledger) -> None:
    """Shuffle, prefetch and skip what is stood in for; what was asked for is still read."""

    def held(
        most: int, original: Call, /, dataset: Any, buffer_size: Any, *args: object, **kwargs: Any
    ) -> object:
        asked = 0
        with suppress(TypeError, ValueError):  # that only a graph knows
            asked = int(buffer_size) if ledger.any else 0
        if asked:
            most = min(most, max(MOST_BYTES // example_bytes(dataset.element_spec), 1))
        # To fill a buffer with thousands of pictures takes minutes and gigabytes in each pass.
        if 0 <= asked <= most or not interventions.allowed(InterventionKind.SHUFFLES):
            return original(dataset, buffer_size, *args, **kwargs)
        interventions.note(InterventionKind.SHUFFLES)
        made = original(dataset, most, *args, **kwargs)
        setattr(made, ASKED_BUFFER, asked)
        return made

    def skipped(original: Call, dataset: Any, count: Any, *a: object, **kw: object) -> object:
        with suppress(TypeError, ValueError, AttributeError):  # that only a graph knows
            rows = int(dataset.cardinality().numpy())
            short = ledger.any and (rows == _UNKNOWN or 0 <= rows <= int(count))
            if short and interventions.allowed(InterventionKind.SHUFFLES):
                interventions.note(InterventionKind.SHUFFLES)
                count = 0
        return original(dataset, count, *a, **kw)

    hooks.around(table.DATASET_SHUFFLED, partial(held, MOST))
    hooks.around(table.DATASET_PREFETCHED, partial(held, AHEAD))
    hooks.around(table.DATASET_SKIPPED, skipped)


def example_bytes(element_spec: object) -> int:
    """About the size of an element, once it is decoded."""
    size = 0
    for spec in importlib.import_module("tensorflow").nest.flatten(element_spec):
        with suppress(TypeError, ValueError, AttributeError):  # of no known shape
            size += prod(n or SIZE for n in spec.shape) * spec.dtype.size
    return size or 1
