"""Repeated lookup of workers during a watch: a recreated pod has another address."""

import threading
import time
from collections.abc import Callable, Sequence

from tpudiag.errors import TpudiagError

EVERY_S = 60.0


class WorkerLookup:
    """Runs lookups in the background, so that a hanging service does not block."""

    def __init__(
        self,
        ask: Callable[[], Sequence[str]],
        known: Sequence[str],
        every_s: float = EVERY_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """`ask` returns the addresses of all workers; `known` are the current ones."""
        self._ask, self._every_s, self._monotonic = ask, every_s, monotonic
        self.known = self._told = tuple(known)
        self._due_s = monotonic() + every_s
        self.asking: threading.Thread | None = None

    def changed(self) -> Sequence[str] | None:
        """The addresses, where they changed since the last call; starts a lookup where due."""
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
        try:
            addresses = tuple(self._ask())
        except (TpudiagError, OSError):
            return
        # An empty answer may mean that the pods are being recreated: keep the old ones.
        if addresses:
            self.known = addresses
