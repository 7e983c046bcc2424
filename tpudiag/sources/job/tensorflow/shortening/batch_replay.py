"""Lets loops over data run at Python's speed: an iterator repeats its last batch.

Only for iterators whose batches reached step functions, and after a pass has been read for long
enough. In a `for` loop data of unknown length ends some batches later, for `next` never; a known
number of batches is kept. A line that reads such data repeatedly, recreated or not, really reads it
twice, since filling a large shuffle buffer takes long.
"""

import dis
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import (
    Call,
    Library,
    barrier,
    hooks,
    interventions,
    table,
    user_lines,
)
from tpudiag.sources.job.tensorflow.input import cardinality

FIRST_READ_S, LATER_READ_S = 4.0, 0.25
"""How long a pass is really read: the first over a dataset, and each later one."""
FIRST_PASS_BATCHES, LATER_PASS_BATCHES = 1000, 20
"""Repeated batches in a `for` loop before data of unknown length ends."""
WHOLE_PASSES = 2
"""Passes with their true number of batches, where known; later `for` loops end early."""


@dataclass(kw_only=True)
class _Pass:
    """One iterator over a dataset."""

    data: object
    """What is read: a dataset, or whatever a line of the job's reads."""
    number: int
    """The number of this pass over it, from 1."""
    kept: bool
    """Whether its last batch is available for later passes."""
    batches: int
    """The number of batches: tf.data's cardinality."""
    feeds_step: bool = False
    last: object = None
    leaves: frozenset[int] = frozenset()
    read: int = 0
    replayed: int = 0
    read_s: float = 0.0


class _Again(Iterator[object]):
    """A pass of a `for` loop of which nothing is read any more."""

    def __init__(self, again: Callable[[], object]) -> None:
        self._again = again

    def __next__(self) -> object:
        return self._again()


class BatchReplay:
    """Hooks the iterators of tf.data and tf.distribute; inactive until `begin`."""

    def __init__(self, tf: Library, on_pass: Callable[[], None]) -> None:
        self._tf, self._on_pass = tf, on_pass
        self._active = False
        self._depth = 0
        self._passes: dict[int, _Pass] = {}
        self._passes_over: dict[object, int] = {}
        self._steps_fed: set[object] = set()
        self._last: dict[object, object] = {}
        self.suspended = False
        self.replayed = 0
        """The total number of repeated batches."""
        hooks.around(table.DATASET_READ, self._iterate)

    def begin(self) -> None:
        """The first loop was observed."""
        self._active = True
        self._passes_over.clear()
        for each in self._passes.values():
            each.number, each.read_s = 1, 0.0
            self._passes_over[each.data] = 1

    def watch_distributed(self, distributed: object) -> None:
        """A distributed dataset was made: hook its class."""
        hooks.around(table.DISTRIBUTED_READ, self._iterate, type(distributed))

    def fed(self, arguments: object) -> None:
        """A step function is called with these: their iterators feed steps."""
        if all(each.feeds_step for each in self._passes.values()):
            return
        ids = {id(leaf) for leaf in self._tf.nest.flatten(arguments)}
        for each in self._passes.values():
            if not each.feeds_step and not each.leaves.isdisjoint(ids):
                each.feeds_step = True
                self._steps_fed.add(each.data)

    def _iterate(self, original: Call, dataset: object) -> object:
        """A pass begins."""
        # A strategy's iterator reads one iterator per worker: only the outermost counts, and inside
        # a function the graph reads, invisible to Python hooks.
        if self._depth or not self._tf.executing_eagerly():
            return original(dataset)
        batches = cardinality.known(dataset)
        line = user_lines.direct_caller()
        spec = str(getattr(dataset, "element_spec", id(dataset)))
        # By line: a loop that recreates its dataset in each epoch would never leave its first pass.
        key: object = id(dataset) if line is None else (line, spec, batches)
        number = self._passes_over[key] = self._passes_over.get(key, 0) + 1
        begun = _Pass(
            data=key,
            number=number,
            kept=line is not None,
            batches=batches,
            feeds_step=key in self._steps_fed,
        )
        may_replay = self._active and interventions.allowed(InterventionKind.REPLAY)
        if may_replay and begun.feeds_step and self._read_enough(begun) and _asked("GET_ITER"):
            # Nothing of it will be read: a real iterator would fill its buffers all the same, and
            # those of hundreds of passes are let go of more slowly than they are made.
            self._on_pass()
            return _Again(partial(self._again, begun))
        iterator = original(dataset)
        self._passes[id(iterator)] = begun
        # Ids are reused once an object is gone, and a new iterator would continue with an old one's
        # batch. Not at exit, when TensorFlow may be half shut down.
        weakref.finalize(iterator, self._passes.pop, id(iterator), None).atexit = False
        hooks.around(table.ITERATOR_NEXT, self._next, type(iterator))
        self._on_pass()
        return iterator

    def _next(self, original: Call, iterator: object, *args: object, **kwargs: object) -> object:
        """The next batch, or the last one again."""
        each = self._passes.get(id(iterator))
        if each is None or self._depth or not self._tf.executing_eagerly():
            return original(iterator, *args, **kwargs)
        active = self._active and interventions.allowed(InterventionKind.REPLAY)
        if active and each.feeds_step and self._read_enough(each):
            return self._again(each)
        started = time.perf_counter()
        self._depth += 1
        try:
            batch = original(iterator, *args, **kwargs)
        finally:
            self._depth -= 1
        each.read_s += time.perf_counter() - started
        each.read += 1
        each.last = batch
        if each.kept:
            self._last[each.data] = batch
        each.leaves = frozenset(id(leaf) for leaf in self._tf.nest.flatten(batch))
        return batch

    def _read_enough(self, each: _Pass) -> bool:
        if self.suspended:
            return False
        if not each.read:
            each.last = self._last.get(each.data) if each.number > WHOLE_PASSES else None
            return each.last is not None
        return each.read_s >= (FIRST_READ_S if each.number <= 1 else LATER_READ_S)

    def _again(self, each: _Pass) -> object:
        known = 0 <= each.batches <= each.read + each.replayed
        if known or (_may_end(each) and _asked("FOR_ITER")):
            interventions.note(InterventionKind.REPLAY)
            raise barrier.for_job(StopIteration())
        interventions.note(InterventionKind.REPLAY)
        each.replayed += 1
        self.replayed += 1
        return each.last


def _may_end(each: _Pass) -> bool:
    """Whether a `for` loop over this data has had enough."""
    if each.batches == cardinality.ENDLESS:
        return False
    if each.batches == cardinality.UNKNOWN and each.number <= WHOLE_PASSES:
        return each.replayed >= FIRST_PASS_BATCHES
    return each.number > WHOLE_PASSES and each.replayed >= LATER_PASS_BATCHES


def _asked(instruction: str) -> bool:
    """Whether the job's own frame asks by a `for` loop, rather than by `iter` or `next`."""
    others = (
        each for each in user_lines.frames() if not user_lines.is_hook(each.f_code.co_filename)
    )
    frame = next(others, None)
    if frame is None or frame.f_lasti < 0:
        return False
    # The instruction under way: a script that asks by `next` mostly expects no end of its data.
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] == instruction
