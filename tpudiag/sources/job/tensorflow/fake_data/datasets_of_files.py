"""Datasets of files that cannot be reached: their names, and how many are shuffled or skipped.

One record is as good as another: few are shuffled at once, and none is skipped for want of more.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, cast

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Call, Library, hooks, interventions, privates, table

from . import paths
from .ledger import Ledger

MOST = 64
"""Elements that a buffer of stand-ins holds."""
_UNKNOWN = -2
"""The cardinality of a dataset whose elements only reading counts."""


def names(tf: Library, is_away: Callable[[object], bool]) -> None:
    """Hook the dataset of files' names."""

    def listed(original: Call, file_pattern: Any, *args: object, **kwargs: object) -> object:
        texts = _texts(file_pattern)
        if not any(is_away(text) for text in texts):
            return original(file_pattern, *args, **kwargs)
        names = [name for text in texts for name in tf.io.gfile.glob(text)]
        made = tf.data.Dataset.from_tensor_slices(names)
        shuffle = args[0] if args else kwargs.get("shuffle")
        return made if shuffle is False else made.shuffle(max(len(names), 1))

    hooks.around(table.FILES_LISTED, listed)


def of_stand_ins(ledger: Ledger) -> None:
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


def _texts(value: Any) -> list[str]:
    """A name, or those in a list or tuple; none where anything in it is none."""
    several = cast("list[object]", value if isinstance(value, (list, tuple)) else [value])
    texts = list(map(paths.text_of, several))
    return [] if None in texts else [text for text in texts if text is not None]
