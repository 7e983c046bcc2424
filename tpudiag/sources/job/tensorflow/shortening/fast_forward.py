"""Skips calls of observed step functions, so that loops run at Python's speed.

A step function is a tf.function that trains or runs replicas. Each of its signatures really runs at
least twice, and longer while a pass over the data (an epoch, an evaluation) has time; further calls
return the last real result. Counters moved by a real call (optimizer.iterations, a global step) are
moved by the same amount, so that loops that wait for them end.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Args, Kwargs, barrier, interventions, user_lines
from tpudiag.sources.job.points.library_objects import Variable

# The first call traces and makes variables: cost and counters show in the second.
LEAST_REAL_CALLS = 2
SLOW_S = 5.0
"""A slower call that trains nothing is not run a second time."""
SLOW_TRAINING_S = 10.0
"""A later training function that took longer, tracing included, is not run a second time where its
first call moved a counter: past the first loop the goal is to reach what follows."""
REAL_S_OF_PASS = (6.0, 1.0, 0.25)
"""Real time per pass over the data: the first, the second, and each later one."""
REAL_SHARE = 0.6
"""The share of the budget for real calls, after which everything possible is forwarded."""
ENDLESS_CALLS = 200
"""Calls in a pass over data of unknown length before it ends, where they are answered."""
ENOUGH_CALLS = 2_000
"""Calls in a pass that are answered before an epoch of known length is left."""
MOST_SIGNATURES = 200
MOST_INSTANCES = 4
"""More tf.functions with the same code are recreated in a loop: they count as one."""


@dataclass
class _Known:
    """One signature of a step function: its last real result, and the counters it moves."""

    result: object = None
    took_s: float = 0.0
    real_calls: int = 0
    counters: list[tuple[Variable, int]] = field(default_factory=list[tuple[Variable, int]])


class FastForward:
    """Decides which calls of step functions run; `training_too` after the first loop."""

    def __init__(
        self,
        budget_s: float,
        counters: Callable[[], Iterable[Variable]],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._budget_s, self._counters, self._clock = budget_s, counters, clock
        self._known: dict[object, _Known] = {}
        self._real_s = 0.0
        self._pass_s = 0.0
        self._passes = self.passes = 0
        self.on_answer: Callable[[], None] = lambda: None
        self.on_enough: Callable[[], None] = lambda: None
        self.training_too = False
        self.moves_late = False
        """Whether counters are moved when they are read, not at each forwarded call."""
        self._pending: dict[int, tuple[Variable, int]] = {}
        self.whole_results = False
        """While results must have the length of their data (predict)."""
        self.endless = False
        """While Keras reads data whose end only its iterator knows, and which is no longer read."""

    def new_pass(self) -> None:
        """The job begins to iterate over data."""
        self._pass_s = 0.0
        self._passes += 1
        self.passes += 1

    def begin(self) -> None:
        """The first loop was observed: from now on training steps are forwarded, too."""
        self.training_too = True
        self._passes = self._real_s = self._pass_s = 0

    def may_forward(self, trains: bool) -> bool:
        """Whether calls of a step function may be answered by now."""
        return (self.training_too or not trains) and interventions.allowed(InterventionKind.STEPS)

    def knows(self, key: object) -> bool:
        """Whether enough calls of this signature ran to answer further ones."""
        known = self._known.get(key)
        return known is not None and known.real_calls >= LEAST_REAL_CALLS

    def last(self, key: object, trains: bool = True, *, spare: bool = False) -> _Known | None:
        """The signature's last result where it can answer this call; None where it must run.

        `spare`: it is not run more often than necessary.
        """
        known = self._known.get(key)
        if known is None or (not spare and self._has_time(known.took_s)):
            return None
        slow = known.took_s > (SLOW_TRAINING_S if trains else SLOW_S)
        once = slow and (not trains or bool(known.counters))
        return known if once or known.real_calls >= LEAST_REAL_CALLS else None

    def end_if_endless(self, calls: int, longest: int) -> None:
        """End a pass over data of unknown length, as the data would, or leave a long epoch.

        Not before an earlier pass ended, of so many calls: Keras takes that for their length.
        """
        if calls >= ENOUGH_CALLS:
            self.on_enough()
        if self.endless and calls >= max(ENDLESS_CALLS, longest):
            raise barrier.for_job(StopIteration())

    def past_the_end(self, key: object, calls: int, longest: int) -> _Known | None:
        """What answers a call whose data end earlier than in a pass that was not read whole."""
        return self._known.get(key) if self.endless and calls < longest else None

    def answer(self, known: _Known) -> object:
        """The last result again, with the counters moved as by a real call."""
        interventions.note(InterventionKind.STEPS)
        self.on_answer()
        for variable, moved in known.counters:
            pending = self._pending.get(id(variable))
            self._pending[id(variable)] = (variable, moved + (pending[1] if pending else 0))
        if not self.moves_late:
            self.move_counters()
        return _fresh(known.result)

    def move_counters(self) -> None:
        """Move the counters by the amount left by forwarded calls."""
        pending, self._pending = self._pending, {}
        for variable, moved in pending.values():
            # Without reading, which would trigger the hook that calls this.
            variable.assign_add(moved, read_value=False)

    def read(self, in_graph: bool) -> None:
        """A counter is about to be read or saved.

        A trace only notes its read: moving a counter there would become part of its graph, and of
        the program for the TPU compiler.
        """
        if not in_graph:
            self.move_counters()

    def run(self, key: object, call: Callable[[], object]) -> object:
        """Really run a call, and keep its result."""
        known = self._known.get(key) or _Known()
        self.move_counters()
        # The first call also makes variables and slots, so that its counters are not typical.
        counters = [] if known.real_calls == 0 else self.counts()
        started = self._clock()
        result = call()
        # Of the last call, since the first one includes tracing.
        known.took_s = self._clock() - started
        known.result, known.real_calls = result, known.real_calls + 1
        known.counters = _moved(counters)
        self._pass_s += known.took_s
        self._real_s += known.took_s
        if key in self._known or len(self._known) < MOST_SIGNATURES:
            self._known[key] = known
        return result

    def first(
        self,
        key: object,
        result: object,
        took_s: float,
        before: Iterable[tuple[Variable, int | None]] = (),
    ) -> None:
        """Keep the result and counters of a function's first call since `before`, with its tracing.

        For functions that train nothing, and those that train past the first loop.
        """
        if key is not None and key not in self._known and len(self._known) < MOST_SIGNATURES:
            self._known[key] = _Known(result, took_s, real_calls=1, counters=_moved(before))
            self._pass_s += took_s

    def counts(self) -> list[tuple[Variable, int | None]]:
        """The counters with their current values."""
        return [(counter, _value(counter)) for counter in self._counters()]

    @staticmethod
    def catch_up(before: list[tuple[Variable, int | None]], times: float) -> None:
        """Move counters as a loop would that ran a `times`-th of its length."""
        for counter, value in before:
            now = _value(counter)
            if now is not None and value is not None and now != value:
                counter.assign_add(round((now - value) * (times - 1)), read_value=False)

    def _has_time(self, took_s: float) -> bool:
        """Whether this pass has time for another real call of a function that ran often enough."""
        allowed_s = REAL_S_OF_PASS[min(max(self._passes, 1), len(REAL_S_OF_PASS)) - 1]
        left_s = REAL_SHARE * self._budget_s - self._real_s
        return self._pass_s + took_s < min(allowed_s, self._pass_s + left_s)


def signature(
    function: object, args: Args, kwargs: Kwargs, instances: int, every_replica: bool = False
) -> object:
    """The properties that a call must share with another to be answered by it; numbers may differ.

    With `every_replica` the shapes of all replicas count, not only the first one's; a call with an
    iterator then has no signature (None), since its next element is unknown.
    """
    parts: list[object] = [id(function) if instances <= MOST_INSTANCES else 0]
    for path, value in leaves("", (args, dict(sorted(kwargs.items())))):
        if every_replica and hasattr(value, "__next__"):
            return None
        replicas: Any = getattr(value, "values", None) if every_replica else None
        parts.append(path)
        if replicas.__class__ is tuple:
            parts.extend(str(getattr(part, "shape", "")) for part in replicas)
        parts.append(_leaf(user_lines.first_replica_value(value)))
    return tuple(parts)


def leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """What arguments hold, whatever they are nested in, each with its path."""
    if isinstance(value, dict):
        items: Iterable[tuple[object, object]] = cast("Mapping[object, object]", value).items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(cast("Sequence[object]", value))
    else:
        yield path, value
        return
    for key, item in items:
        yield from leaves(f"{path}[{key!r}]", item)


def _leaf(value: Any) -> object:
    """The relevant property of a leaf: a tensor's shape, not its content."""
    # By value, since they choose what a call does (training=True, "eval").
    if value is None or isinstance(value, (bool, str, bytes)):
        return value
    if isinstance(value, (int, float, complex)) or hasattr(value, "__next__"):
        return type(value).__name__
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return str(value.dtype), str(value.shape)
    return id(value)


def _moved(counters: Iterable[tuple[Variable, int | None]]) -> list[tuple[Variable, int]]:
    now = ((counter, _value(counter), before) for counter, before in counters)
    return [(c, n - b) for c, n, b in now if n is not None and b is not None and n != b]


def _value(variable: Variable) -> int | None:
    try:
        return int(variable.numpy())
    except Exception:
        return None


def _fresh(result: Any) -> object:
    """A result with containers that the job may change."""
    if result.__class__ is dict:
        return {key: _fresh(value) for key, value in result.items()}
    if result.__class__ is list:
        return [_fresh(value) for value in result]
    return result
