"""Workers that are looked up again while a job is watched: a pod that is made anew has another
address."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from tpudiag.errors import TpudiagError

EVERY_S = 60.0


class WorkerLookup:
    """Asks in the background, so that a service that hangs holds nothing up."""

    def __init__(
        self,
        ask: Callable[[], Sequence[str]],
        known: Sequence[str],
        every_s: float = EVERY_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ask` gives the addresses of all workers; `known` are those of now."""
        self._ask, self._every_s, self._monotonic = ask, every_s, monotonic
        self.known = self._told = tuple(known)
        self._due_s = monotonic() + every_s
        self.asking: threading.Thread | None = None

    def changed(self) -> Sequence[str] | None:
        """The addresses, where they are others than those told last; asks again where due."""
        if self._monotonic() >= self._due_s and (self.asking is None or not self.asking.is_alive()):
            self._due_s = self._monotonic() + self._every_s
            self.asking = threading.Thread(target=self._look, daemon=True)
            self.asking.start()
        known = self.known
        if known == self._told:
            return None
        self._told = known
        return known

    def _look(self) -> None:
        """Ask once; where nothing is told, the workers stay as they were."""
        try:
            addresses = tuple(self._ask())
        except (TpudiagError, OSError):
            return
        # An empty answer is taken for a moment in which pods are made anew: none would leave
        # nothing to watch.
        if addresses:
            self.known = addresses
