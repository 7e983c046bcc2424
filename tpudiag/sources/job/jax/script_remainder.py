"""Shortens what a script does beside the observed steps: calls return a function's last result."""

import time
from collections import defaultdict
from collections.abc import Callable, Iterable

from tpudiag.script_run import Coverage, CoverageEnd, InterventionKind
from tpudiag.sources.job.jax.jitted import Record
from tpudiag.sources.job.points import interventions, main_flow
from tpudiag.sources.job.tensorflow.shortening.deadline import Deadline

FEWEST_GAPS = 3
LONG_S = 15.0
"""What a function that does not train may take in all before it is answered."""
FEWEST_CALLS = 8
Signature = tuple[tuple[object, str], ...]


class RestOfScript:
    """What a call of the training step gives once enough steps were observed.

    The state that the last step gave is given again and never run on, so that it is never donated.
    Of a function that does not train, and took long in many calls before the first step or past
    the observed ones (an evaluation, most often), the other calls give its last result as well.
    """

    def __init__(self, budget_s: float, on_hard_end: Callable[[], None]) -> None:
        self.deadline = Deadline(budget_s, on_hard_end)
        self.leaves: Callable[[object], list[object]] = lambda _: []
        """Of a tree of JAX's."""
        self.gaps_ms: list[float] = []
        """What the job took from one answer to the next call, where nothing else of JAX ran: to
        make a batch, by whatever threads it has, while no step is computed."""
        self._answered_at: float | None = None
        self._last: dict[tuple[int, Signature], object] = {}
        """The last result of each function, and of each size of its batch."""
        self._gave: dict[int, set[int]] = {}
        """The parts of these by their ids, of each function."""
        self._spent_s: defaultdict[int, float] = defaultdict(float)
        """By the record of a function that does not train."""

    def answer(self, record: Record, args: object, kwargs: object) -> tuple[object] | None:
        """The last result in a tuple; None where the call is to run."""
        asked_at, before, self._answered_at = time.perf_counter(), self._answered_at, None
        if record.trains and self.deadline.began is None:
            return None
        if not self._is_known(record) or not interventions.allowed(InterventionKind.STEPS):
            return None
        key = id(record), self._signature(args, kwargs)
        if key not in self._last:
            return None
        known = self._last[key]
        # What another call was donated is gone.
        if any(getattr(leaf, "is_deleted", bool)() for leaf in self.leaves(known)):
            return None
        interventions.note(InterventionKind.STEPS)
        record.forwarded += 1
        if record.trains:
            given = map(id, self.leaves((args, kwargs)))
            record.starts += self._gave.get(id(record), set()).isdisjoint(given)
            if before is not None:
                self.gaps_ms.append((asked_at - before) * 1e3)
            self._answered_at = time.perf_counter()
        return (known,)

    @property
    def input_ms(self) -> float | None:
        """What the job takes to make a batch; None where too few were made."""
        # The first ones were made ahead, while the observed steps ran.
        later = self.gaps_ms[len(self.gaps_ms) // 2 :]
        return sum(later) / len(later) if len(later) >= FEWEST_GAPS else None

    def ran(
        self, record: Record, call: tuple[object, object], result: object, aside_s: float
    ) -> None:
        """A call ran really; `aside_s` is what it took while no steps are observed."""
        self._spent_s[id(record)] += aside_s
        began = self.deadline.began is not None or not record.trains
        if began and self._is_known(record):
            self._last[id(record), self._signature(*call)] = result
            own = (each for (of, _), each in self._last.items() if of == id(record))
            self._gave[id(record)] = {id(leaf) for each in own for leaf in self.leaves(each)}

    def _is_known(self, record: Record) -> bool:
        """Whether its last result is kept: of one that does not train, once it took long."""
        long = self._spent_s[id(record)] > LONG_S and record.calls >= FEWEST_CALLS
        return record.trains or long

    def _signature(self, args: object, kwargs: object) -> Signature:
        """Shapes and dtypes: a batch of another size has a result of its own."""
        return tuple(
            (getattr(leaf, "shape", None), str(getattr(leaf, "dtype", None) or leaf.__class__))
            for leaf in self.leaves((args, kwargs))
        )

    def coverage(
        self, end: CoverageEnd, error: BaseException | None, records: Iterable[Record]
    ) -> Coverage:
        """What of the script was run: functions that train, and others that were answered."""
        self.deadline.cancel()
        frames = main_flow.frames_of_traceback(error.__traceback__) if error is not None else []
        functions = (r.step() for r in records if r.calls and (r.trains or r.forwarded))
        return self.deadline.coverage(end, functions, frames)
