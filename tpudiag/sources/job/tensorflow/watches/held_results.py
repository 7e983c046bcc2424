"""Watches whether a job holds what each training step gave: it lies on the device until then."""

import weakref
from collections.abc import Iterable

from tpudiag.model import Location
from tpudiag.signals.training_loop import KeptResults
from tpudiag.sources.job.points import user_lines

_SMALLEST_BYTES = 4096
"""Losses and metrics, which may be kept, are smaller."""
_LAST, _FEWEST, _MOST = 2, 3, 32
"""Steps whose results the loop still works on; those that show a habit; those that are followed."""


class HeldResults:
    """Follows the results of the first steps, without holding them."""

    def __init__(self) -> None:
        self._steps: list[list[tuple[weakref.ref[object], int]]] = []
        self._at: list[Location | None] = []

    def gave(self, arrays: Iterable[tuple[object, int]]) -> None:
        """A step gave these, each of so many bytes on one device."""
        if len(self._steps) < _MOST:
            large = [(weakref.ref(a), size) for a, size in arrays if size >= _SMALLEST_BYTES]
            self._steps.append(large)
            self._at.append(user_lines.caller())

    def facts(self) -> KeptResults | None:
        """What is alive of all steps but the last ones; None unless it is of nearly each."""
        earlier = self._steps[:-_LAST]
        held = [sum(size for ref, size in step if ref() is not None) for step in earlier]
        alive = [size for size in held if size]
        if len(alive) < _FEWEST or len(alive) < len(held) - 1:
            return None
        return KeptResults(
            steps=len(alive),
            of_steps=len(held),
            bytes=sum(alive) // len(alive),
            location=next(at for at, size in zip(self._at, held, strict=False) if size),
        )
