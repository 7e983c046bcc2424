"""Occasional samples of a process while nothing is wrong, to know its usual state."""

import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Collection
from typing import Generic, TypeVar

Sample = TypeVar("Sample")
FIRST_S, EVERY_S = 5.0, 300.0
KEPT = 6


class UsualSamples(Generic[Sample]):
    """Samples of several processes, one at a time and in the background; `look` raises nothing."""

    def __init__(
        self, look: Callable[[int], Sample], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._look, self._monotonic = look, monotonic
        self._due_s: dict[int, float] = {}
        self._taken: defaultdict[int, deque[tuple[int, Sample]]] = defaultdict(
            lambda: deque(maxlen=KEPT)
        )
        self._busy: threading.Thread | None = None

    def sample(self, pid: int, now_ns: Callable[[], int]) -> None:
        """Sample a process where one is due and none is in progress."""
        now_s = self._monotonic()
        due_s = self._due_s.setdefault(pid, now_s + FIRST_S)
        # Never two at once, so that sampling does not slow down the trainers' steps.
        if now_s < due_s or (self._busy is not None and self._busy.is_alive()):
            return
        self._due_s[pid] = now_s + EVERY_S
        self._busy = threading.Thread(target=self._take, args=(pid, now_ns), daemon=True)
        self._busy.start()

    def keep(self, pids: Collection[int]) -> None:
        """Forget all other processes, which are gone."""
        for pid in [pid for pid in self._due_s if pid not in pids]:
            del self._due_s[pid]
            self._taken.pop(pid, None)

    def before(self, pid: int, since_ns: int) -> tuple[Sample, ...]:
        """The samples that ended before a time."""
        taken = tuple(self._taken[pid]) if pid in self._taken else ()
        return tuple(sample for at_ns, sample in taken if at_ns < since_ns)

    def wait(self) -> None:
        """Wait for the sample in progress."""
        if self._busy is not None:
            self._busy.join()

    def _take(self, pid: int, now_ns: Callable[[], int]) -> None:
        sample = self._look(pid)
        # Dated at its end: a sample during which a drop began is not from before it.
        self._taken[pid].append((now_ns(), sample))
