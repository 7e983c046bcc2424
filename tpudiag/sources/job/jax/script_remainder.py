"""Continues past the observed steps to the script's end: calls return the step's last result."""

import time
from collections.abc import Callable, Iterable

from tpudiag.script_run import Coverage, CoverageEnd, InterventionKind, StepFunction
from tpudiag.sources.job.jax.jitted import Record
from tpudiag.sources.job.points import Library, barrier, interventions, main_flow
from tpudiag.sources.job.tensorflow.shortening.deadline import Deadline

FEWEST_GAPS = 3
Signature = tuple[tuple[object, str], ...]


class RestOfScript:
    """What a call of the training step gives once enough steps were observed.

    The state that the last step gave is given again and never run on, so that it is never donated.
    """

    def __init__(self, budget_s: float, on_hard_end: Callable[[], None]) -> None:
        self.deadline = Deadline(budget_s, on_hard_end)
        self.began_at: float | None = None
        self.forwarded: dict[int, int] = {}
        """By the record of the step: calls that were answered."""
        self._leaves: Callable[[object], list[object]] = lambda _: []
        self.gaps_ms: list[float] = []
        """What the job took from one answer to the next call, where nothing else of JAX ran: to
        make a batch, by whatever threads it has, while no step is computed."""
        self._answered_at: float | None = None
        self._last: dict[tuple[int, Signature], object] = {}
        """The last result of each step, and of each size of its batch."""

    def begin(self, jax: Library) -> None:
        """Enough was observed."""
        self._leaves = jax.tree_util.tree_leaves
        self.began_at = time.perf_counter()
        self.deadline.start()

    def answer(self, record: object, args: object, kwargs: object) -> tuple[object] | None:
        """The last result in a tuple; None where the call is to run."""
        asked_at, before, self._answered_at = time.perf_counter(), self._answered_at, None
        if self.began_at is None or not interventions.allowed(InterventionKind.STEPS):
            return None
        key = id(record), self._signature(args, kwargs)
        if key not in self._last:
            return None
        known = self._last[key]
        # What another call was donated is gone.
        if any(getattr(leaf, "is_deleted", bool)() for leaf in self._leaves(known)):
            return None
        interventions.note(InterventionKind.STEPS)
        self.forwarded[id(record)] = self.forwarded.get(id(record), 0) + 1
        if before is not None:
            self.gaps_ms.append((asked_at - before) * 1e3)
        self._answered_at = time.perf_counter()
        return (known,)

    def others_ran(self) -> None:
        """Another function of the job's is called: an evaluation, most often."""
        self._answered_at = None

    @property
    def input_ms(self) -> float | None:
        """What the job takes to make a batch; None where too few were made."""
        # The first ones were made ahead, while the observed steps ran.
        later = self.gaps_ms[len(self.gaps_ms) // 2 :]
        return sum(later) / len(later) if len(later) >= FEWEST_GAPS else None

    def ran(self, record: object, args: object, kwargs: object, result: object) -> None:
        """A training step ran really."""
        if self.began_at is not None:
            self._last[id(record), self._signature(args, kwargs)] = result

    def functions(self, records: Iterable[Record]) -> tuple[StepFunction, ...]:
        """Those that train, as the job called them."""
        return tuple(
            StepFunction(
                name=r.name,
                location=r.location,
                called_at=r.called_at,
                ran=r.calls,
                forwarded=self.forwarded.get(id(r), 0),
            )
            for r in records
            if r.trains and r.calls
        )

    def _signature(self, args: object, kwargs: object) -> Signature:
        """Shapes and dtypes: a batch of another size has a result of its own."""
        return tuple(
            (getattr(leaf, "shape", None), str(getattr(leaf, "dtype", None) or leaf.__class__))
            for leaf in self._leaves((args, kwargs))
        )

    def coverage(
        self, end: CoverageEnd, error: BaseException | None, functions: tuple[StepFunction, ...]
    ) -> Coverage:
        """What of the script was run."""
        self.deadline.cancel()
        frames = main_flow.frames_of_traceback(error.__traceback__) if error is not None else []
        return Coverage(
            end=end,
            functions=functions,
            stopped_at=main_flow.stands_at(frames),
            unreached=barrier.attempt("main flow", main_flow.unreached, frames) or (),
            rest_s=time.perf_counter() - self.began_at if self.began_at is not None else 0.0,
        )
