"""One stand-in is as good as another: few are shuffled at once, none skipped for want of more."""

from contextlib import suppress
from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, hooks, interventions, privates, table

from .ledger import Ledger

MOST = 64
"""Elements that a buffer of stand-ins holds."""
_UNKNOWN = -2
"""The cardinality of a dataset whose elements only reading counts."""


def install(ledger: Ledger) -> None:
    """Shuffle and skip what is stood in for; what was asked for is still read."""

    def shuffled(
        original: Call, dataset: object, buffer_size: Any, *args: object, **kwargs: object
    ) -> object:
        asked = 0
        with suppress(TypeError, ValueError):  # that only a graph knows
            asked = int(buffer_size)
        # To fill a buffer with thousands of pictures takes minutes and gigabytes in each pass.
        small = ledger.any and asked > MOST
        if not small or not interventions.allowed(InterventionKind.SHUFFLES):
            return original(dataset, buffer_size, *args, **kwargs)
        interventions.note(InterventionKind.SHUFFLES)
        made = original(dataset, MOST, *args, **kwargs)
        setattr(made, privates.BUFFER_SIZE.name, asked)  # where the checks read it
        return made

    def skipped(original: Call, dataset: Any, count: Any, *a: object, **kw: object) -> object:
        with suppress(TypeError, ValueError, AttributeError):  # that only a graph knows
            rows = int(dataset.cardinality().numpy())
            short = ledger.any and (rows == _UNKNOWN or 0 <= rows <= int(count))
            if short and interventions.allowed(InterventionKind.SHUFFLES):
                interventions.note(InterventionKind.SHUFFLES)
                count = 0
        return original(dataset, count, *a, **kw)

    hooks.around(table.DATASET_SHUFFLED, shuffled)
    hooks.around(table.DATASET_SKIPPED, skipped)
