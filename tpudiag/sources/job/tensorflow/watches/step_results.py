"""Watches a loop's use of its steps' results: fetches, and reads of one replica's part."""

import linecache
import re
import weakref
from collections import Counter, deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any, Literal

from tpudiag.model import Location
from tpudiag.signals.training_loop import FetchKind, ReplicaRead, ResultFetch
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Strategy, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.watches.held_results import HeldResults

_KEPT = 8
LARGEST = 1024
"""The most elements of a result that is tracked; larger ones are no losses or metrics."""
MANY = 8
"""Variables that a line sets after a step, from which on it is a loop over weights."""
_BETWEEN = ("framework/ops.py", "framework/tensor.py", "values.py", "autograph/impl/api.py")
"""TensorFlow's files between the user's line and a fetch."""

_OF_EPOCHS = frozenset(("on_epoch_end", "on_test_end", "on_train_end"))
"""Hooks of callbacks that come once an epoch, however few steps are left of one."""
_VALUE_OF = frozenset(("numpy", "__array__"))
"""The methods by which TensorFlow's and Keras' variables return their values."""


class StepResultWatch:
    """Hooks fetches of tensors, metrics' results, summaries and strategy.reduce."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._results: dict[int, tuple[object, FetchKind, object]] = {}
        """By its id each result that is kept, with its kind and the function that gave it."""
        self._calls: Counter[object] = Counter()
        """Of each training function: a GAN has two, whose steps alternate."""
        self._fetched: dict[tuple[FetchKind, Location], tuple[list[int], set[object]]] = {}
        self._set: Counter[tuple[int, Location | None]] = Counter()
        """Variables that a line set in Python after so many steps."""
        self.replica_reads: dict[Location, ReplicaRead] = {}
        """By the line that took one replica's part of a result."""
        self.held = HeldResults()
        self._of_replicas: deque[weakref.ref[object]] = deque(maxlen=_KEPT)
        """The functions' last results that differ between replicas."""
        self._taken: dict[Location, list[int]] = {}
        self.steps = 0
        self.on_step: Callable[[object], None] | None = None
        self.losses: Callable[[], tuple[object, ...]] = tuple
        """The tensors whose gradients were taken in traced steps."""
        self.dispatches = 0
        """Dispatched steps, including those past the observed ones."""
        hooks.before(table.TENSOR_FETCHED, self._fetching)
        hooks.before(table.ARRAY_MADE, self._arraying)
        hooks.before(table.VARIABLE_ASSIGNED, self._setting)
        hooks.before(table.SUMMARY_WRITTEN, self._summarised)
        hooks.around(table.LOCAL_RESULTS, self._local_results)
        hooks.after(table.STRATEGY_REDUCED, self._reduced, gives=True)

    def watch_keras(self, keras: Library) -> None:
        """Hook the metrics of a Keras."""
        hooks.after(table.BATCH_TRAINED, self._trained_on_batch, keras)
        hooks.before(table.METRIC_BEGUN, self._metric_made, keras)
        hooks.after(table.METRIC_MADE, self._metric_made, keras)

    def step_done(self, result: object, function: object = None) -> None:
        """A training step of a function returned; None where it has no result."""
        self.steps += 1
        self._calls[function] += 1
        others = self._results.items()
        self._results = {n: kept for n, kept in others if kept[2] not in (None, function)}
        if self.on_step is not None:
            hooks.quietly(self.on_step, result)
        hooks.quietly(self.held.gave, self._sizes(result))
        self._keep(result, "result", function)

    def gave(self, result: object, trains: bool) -> None:
        """A function of the job returned, whether it ran or was answered."""
        self.dispatches += trains
        flat = self._tf.nest.flatten(result)
        self._of_replicas.extend(weakref.ref(part) for part in flat if hasattr(part, "values"))

    def _sizes(self, result: object) -> Iterator[tuple[object, int]]:
        """Each part of a result on the first replica, with its bytes."""
        for part in self._tf.nest.flatten(result):
            first = part.values[0] if hasattr(part, "values") else part
            if self._tf.is_tensor(first) and hasattr(first, "numpy"):
                yield first, first.shape.num_elements() * first.dtype.size

    def fetches(self) -> tuple[ResultFetch, ...]:
        """The lines that fetched results, and after how many steps."""
        # Where no function is known that gave it, the one that was called most.
        most = max(self._calls.values(), default=0)
        calls_of = self._calls.__getitem__
        return tuple(
            ResultFetch(kind, len(at), max(len(at), sum(map(calls_of, givers)) or most), location)
            for (kind, location), (at, givers) in self._fetched.items()
        )

    def _keep(self, value: object, kind: FetchKind, giver: object = None) -> None:
        for tensor in self._tf.nest.flatten(value, expand_composites=True):
            floating = getattr(getattr(tensor, "dtype", None), "is_floating", False)
            if floating and (tensor.shape.num_elements() or 0) <= LARGEST:
                # Kept alive, so that its id is not reused.
                self._results[id(tensor)] = tensor, kind, giver

    def _known(self, value: object) -> tuple[FetchKind, object] | None:
        """The kind of a result, and the function that gave it; None of anything else."""
        tensors = self._tf.nest.flatten(value, expand_composites=True)
        kept = filter(None, (self._results.get(id(tensor)) for tensor in tensors))
        return next((each[1:] for each in kept), None)

    def _fetching(self, tensor: Tensor) -> None:
        if not self.steps:
            return
        frame = _asking_frame()
        location = user_lines.of_frame(frame)
        # The value of a variable with dimensions (weights, no counter).
        if tensor.shape.rank and tensor.dtype.is_floating and (line := _line_reading()):
            self._count(line, "variable")
        if frame is None or location is None:
            return
        known = self._known(tensor)
        if (
            known is None
            and tensor.shape.rank == 0
            and (tensor.dtype.is_floating or tensor.dtype.is_bool)
        ):
            known = self._named_on(frame)
        if known is not None:
            self._count(location, *known)

    def _arraying(self, *given: Any, **_: object) -> None:
        """NumPy reads a tensor's memory, of which TensorFlow is not told."""
        if given and id(given[0]) in self._results:
            self._fetching(given[0])

    def _setting(self, *_: object, **__: object) -> None:
        if self.steps and self._tf.executing_eagerly():
            location = user_lines.caller()
            self._set[self.steps, location] += 1
            if location is not None and self._set[self.steps, location] == MANY:
                self._count(location, "update")

    def _named_on(self, frame: FrameType) -> tuple[FetchKind, object] | None:
        """The kind and giver of the result named in a frame's line, e.g. in `if loss > 3:`."""
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        words = re.findall(r"[A-Za-z_]\w*", line)
        values = (frame.f_locals.get(word, frame.f_globals.get(word)) for word in words)
        return next(filter(None, (self._known(v) for v in values if hasattr(v, "dtype"))), None)

    def _count(self, location: Location, kind: FetchKind, giver: object = None) -> None:
        """A line fetched after this step; counted once per step."""
        steps, givers = self._fetched.setdefault((kind, location), ([], set()))
        givers.add(giver)
        if not steps or steps[-1] != self.steps:
            steps.append(self.steps)

    def _summarised(self, *args: object, **kwargs: object) -> None:
        data = kwargs.get("data", args[1] if len(args) > 1 else None)
        known = self._known(data) if self._results and self._tf.executing_eagerly() else None
        location = user_lines.of_frame(_asking_frame()) if known is not None else None
        if known is not None and location is not None:
            self._count(location, "summary", known[1])

    def _trained_on_batch(self, *_: object, **__: object) -> None:
        if (location := user_lines.caller()) is not None:
            self._count(location, "batch")

    def _metric_made(self, metric: object, *_: object, **__: object) -> None:
        class_ = metric if isinstance(metric, type) else type(metric)
        hooks.after(table.METRIC_READ, self._metric_read, class_, gives=True)

    def _metric_read(self, result: object, *_: object) -> None:
        if self.steps and self._tf.executing_eagerly():
            self._keep(result, "metric")

    def _reduced(
        self, reduced: object, strategy: Strategy, *args: object, **kwargs: object
    ) -> None:
        value = kwargs.get("value", args[1] if len(args) > 1 else None)
        if not self._tf.executing_eagerly():
            operation = str(kwargs.get("reduce_op", args[0] if args else None)).upper()
            self._reduced_in_step(strategy, "mean" if "MEAN" in operation else "sum", value)
        elif self._results and (known := self._known(value)) is not None:
            self._keep(reduced, *known)

    def _reduced_in_step(
        self, strategy: Strategy, kind: Literal["mean", "sum"], value: object
    ) -> None:
        """In a traced function: a mean of the losses whose gradients are taken, a sum of means."""
        replicas, location = strategy.num_replicas_in_sync, user_lines.caller()
        if replicas < 2 or location is None:
            return
        # Not expanded: a variable would be read.
        each_of = (getattr(e, "values", None) or (e,) for e in self._tf.nest.flatten(value))
        parts: list[Any] = [part for parts in each_of for part in parts]
        if not all(hasattr(part, "op") and not hasattr(part, "assign") for part in parts):
            return
        trained = any(part is target for part in parts for target in self.losses())
        means = all(graphs.source(part).op.type == "Mean" for part in parts)
        if trained if kind == "mean" else means and not trained:
            read = ReplicaRead(kind=kind, replicas=replicas, location=location)
            self.replica_reads.setdefault(location, read)

    def _local_results(
        self, original: Callable[..., tuple[Any, ...]], strategy: Strategy, value: object
    ) -> object:
        """The parts of all replicas are requested; a loop may take only the first."""
        parts = original(strategy, value)
        if len(parts) > 1 and self._tf.executing_eagerly():
            location = user_lines.of_frame(_asking_frame())
            known = any(value is each() for each in self._of_replicas)
            known = known or hooks.quietly(self._known, value) is not None
            if location is not None and known:
                held = _Parts(parts)
                held.watch = self
                return held
        return parts

    def first_taken(self, parts: tuple[Any, ...]) -> None:
        """A line took replica 0's part."""
        location = user_lines.of_frame(_asking_frame())
        if location is None or location in self.replica_reads:
            return
        # A vector's part may be displayed now and then; several batches of one evaluation make a
        # metric.
        taken = self._taken.setdefault(location, [])
        taken.append(self.dispatches)
        vectors = [part for part in parts if part.shape.rank == 1 and part.dtype.is_floating]
        if vectors and taken.count(self.dispatches) < 2:
            return
        with hooks.instead(self, _results={}):  # our own fetches must not count
            values = [float(part) for part in parts if part.shape.rank == 0]
            values += [float(self._tf.reduce_mean(part)) for part in vectors]
        if len(values) > 1 and len(set(values)) > 1:
            self.replica_reads[location] = ReplicaRead(
                kind="first",
                replicas=len(values),
                taken=values[0],
                mean=sum(values) / len(values),
                location=location,
            )


class _Parts(tuple[Any, ...]):
    """The results of all replicas, which reports when only the first is taken."""

    watch: StepResultWatch | None = None

    def __iter__(self) -> Iterator[Any]:
        self.watch = None  # all are taken
        return super().__iter__()

    def __getitem__(self, index: Any) -> Any:
        watch, self.watch = self.watch, None
        if watch is not None and isinstance(index, int) and index == 0:
            hooks.quietly(watch.first_taken, self)
        return super().__getitem__(index)


def _line_reading() -> Location | None:
    variable = False
    for frame in user_lines.frames():
        location = user_lines.of_frame(frame)
        if location is not None:
            return location if variable else None
        name = frame.f_code.co_name
        if "save" in name or "restore" in name or name in _OF_EPOCHS:
            return None
        if name in _VALUE_OF:
            variable = variable or hasattr(frame.f_locals.get("self"), "assign")
    return None


def _asking_frame() -> FrameType | None:
    return user_lines.frame_above(_BETWEEN)
