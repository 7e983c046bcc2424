"""What is shuffled or skipped of data that is stood in for: one record is as good as another.

To fill a buffer with thousands of pictures takes minutes and gigabytes, once for each pass; behind
as many examples as the real data have there is none.
"""

import contextlib
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, hooks, interventions, privates, table
from tpudiag.sources.job.points.library_objects import Dataset

from .ledger import Ledger

MOST = 64
"""Elements that a buffer holds."""
_UNKNOWN = -2
"""The cardinality of a dataset whose elements only reading counts."""


def install(ledger: Ledger) -> None:
    """Let buffers be small once something was stood in for; what was asked for is still read."""

    def shuffled(
        original: Call, dataset: Dataset, buffer_size: Any, *args: object, **kwargs: object
    ) -> object:
        asked = 0
        with contextlib.suppress(TypeError, ValueError):  # that only a graph knows
            asked = int(buffer_size)
        small = ledger.any and asked > MOST
        if not small or not interventions.allowed(InterventionKind.SHUFFLES):
            return original(dataset, buffer_size, *args, **kwargs)
        interventions.note(InterventionKind.SHUFFLES)
        made = original(dataset, MOST, *args, **kwargs)
        setattr(made, privates.BUFFER_SIZE.name, asked)  # where the checks read it
        return made

    def skipped(
        original: Call, dataset: Any, count: Any, *args: object, **kwargs: object
    ) -> object:
        with contextlib.suppress(TypeError, ValueError, AttributeError):  # that only a graph knows
            rows = int(dataset.cardinality().numpy())
            if ledger.any and (rows == _UNKNOWN or 0 <= rows <= int(count)):
                count = 0
        return original(dataset, count, *args, **kwargs)

    hooks.around(table.DATASET_SHUFFLED, shuffled)
    hooks.around(table.DATASET_SKIPPED, skipped)
