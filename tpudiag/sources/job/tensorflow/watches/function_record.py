"""The record of one traced function: its calls, its traces, and the reason for each trace."""

import statistics
from collections.abc import Iterable
from dataclasses import dataclass, field

from tpudiag.model import Location
from tpudiag.signals import ArgumentChange, Retrace, StepFunction, TracedFunction
from tpudiag.signals.step import ChangeKind, LeafKind
from tpudiag.sources.job.points import Args, Kwargs, bindings, privates, user_lines
from tpudiag.sources.job.points.library_objects import Function
from tpudiag.sources.job.tensorflow.shortening import fast_forward
from tpudiag.sources.job.tensorflow.shortening.loops import INNER_STEPS

MAXIMUM_RETRACES_KEPT = 20
MAXIMUM_TIMES_KEPT = 1000
Signature = dict[str, tuple[LeafKind, str]]
"""Path of an argument -> (kind, description)."""


remade = list[object]()
"""Models that were given other data than the job's: their next trace is no matter of it."""


@dataclass
class CalledFunction:
    """What was seen of a function that its framework traces, whichever that is."""

    name: str
    location: Location | None
    made_by: str = ""
    """The library's function that made it for the job, as its users name it."""
    called_at: Location | None = None
    """The line of the job's that called it first."""
    calls: int = 0
    traces: int = 0
    trains: bool = False
    forwarded: int = 0
    """Calls that were answered with an earlier result."""
    retraces: list[Retrace] = field(default_factory=list[Retrace])

    def step(self, call_ms: float | None = None) -> StepFunction:
        """The function as one that trains, or whose calls were answered."""
        return StepFunction(
            name=self.name,
            location=self.location,
            called_at=self.called_at,
            ran=self.calls,
            forwarded=self.forwarded,
            call_ms=call_ms,
            trains=self.trains,
        )

    def fact(self) -> TracedFunction:
        """The function as a fact for the checks."""
        return TracedFunction(
            name=self.name,
            location=self.location,
            calls=self.calls,
            traces=self.traces,
            retraces=tuple(self.retraces),
            trains=self.trains,
            made_by=self.made_by,
        )


@dataclass(kw_only=True)
class FunctionRecord(CalledFunction):
    """The record of one tf.function, or of all made from the same code."""

    instances: int = 0
    models: list[object] = field(default_factory=list[object])
    """Those that a library made it for; None of a function of the job's own."""
    replicated: bool = False
    """Whether it calls strategy.run."""
    heavy: str = ""
    """Why it is traced but not run; empty where it is run."""
    judged_batch: int = 0
    """The largest batch of a prediction for which that was decided."""
    skipped: bool = False
    """Whether it was not run for that."""
    calls_in_pass: int = 0
    longest_pass: int = 0
    """Calls in this pass over data, and in the longest before."""
    number_of_pass: int = 0
    last_key: tuple[object, tuple[object, int, object]] | None = None
    """The last call's arguments, by identity and kept alive, and its key."""
    took_ms: list[float] = field(default_factory=list[float])
    loops: list[int | str | None] = field(default_factory=list[int | str | None])
    """The lengths of its shortened loops over steps, or the arguments that hold them."""
    signatures: list[Signature] = field(default_factory=list[Signature])
    """The signatures of calls that traced it."""

    def key(self, function: Function, args: Args, kwargs: Kwargs, every_replica: bool) -> object:
        """The key of calls that may answer each other; cached for identical arguments.

        None for a call that no other can answer.
        """
        if every_replica:
            whole = fast_forward.signature(function, args, kwargs, self.instances, True)
            return None if whole is None else (id(self), whole)
        # Loops that pass the same objects run at Python's speed only if these are not described for
        # each call.
        same = id(function), tuple(map(id, args)), tuple(kwargs)
        if kwargs or self.last_key is None or self.last_key[0] != same:
            signature = fast_forward.signature(function, args, kwargs, self.instances)
            self.last_key = same, (args, id(self), signature)
        return self.last_key[1][1:]

    def in_pass(self, number: int) -> None:
        """A call begins in the pass over data of this number."""
        if number != self.number_of_pass:
            self.longest_pass = max(self.longest_pass, self.calls_in_pass)
            self.calls_in_pass, self.number_of_pass = 0, number

    def ran(self, took_ms: float) -> None:
        """A call without a trace ended."""
        if len(self.took_ms) < MAXIMUM_TIMES_KEPT:
            self.took_ms.append(took_ms)

    def traced(
        self, function: Function, args: Args, kwargs: Kwargs, took_ms: float, model: object = None
    ) -> None:
        """A call with a trace ended: find the argument that caused it.

        The first trace for another `model`, as that of the next fold, is none again.
        """
        known, ours = (any(model is each for each in of) for of in (self.models, remade))
        another = (bool(self.models) and not known) or ours
        remade[:] = [each for each in remade if each is not model]
        self.models += [] if known else [model]
        self.traces += not another
        seen = signature(function, args, kwargs)
        seen[""] = ("new function", f"tf.function number {self.instances}")
        if self.signatures and not another and len(self.retraces) < MAXIMUM_RETRACES_KEPT:
            # Compared with the nearest earlier trace: the smallest difference is the cause.
            differing = min((changes(old, seen) for old in self.signatures), key=len)
            names = bindings.parameters(function.python_function)
            caller, made = user_lines.caller(), bindings.shaped_at(names, differing)
            self.retraces.append(Retrace(self.calls, took_ms, tuple(differing), caller, made))
        if len(self.signatures) < MAXIMUM_RETRACES_KEPT:
            self.signatures.append(seen)

    def times_shortened(self, function: Function, args: Args, kwargs: Kwargs) -> float:
        """The shortening factor of a call's one loop; 1 where unknown."""
        length = self.loops[-1] if len(set(self.loops)) == 1 else None
        if isinstance(length, str):
            call = bindings.bound(function.python_function, *args, **kwargs)
            try:
                length = int(call.arguments[length]) if call else INNER_STEPS
            except (TypeError, ValueError, KeyError):
                return 1.0
        return max(length / INNER_STEPS, 1.0) if length is not None else 1.0

    @property
    def is_step(self) -> bool:
        """Whether further calls may be answered with an earlier result."""
        return self.trains or self.replicated

    @property
    def usual_ms(self) -> float | None:
        """What a call takes; None where none was run."""
        timed = self.took_ms and not self.skipped
        return round(statistics.median(self.took_ms), 3) if timed else None


def signature(function: Function, args: Args, kwargs: Kwargs) -> Signature:
    """A description of every leaf of a call's arguments, by its path."""
    bound = {f"argument {index}": value for index, value in enumerate(args)} | kwargs
    if call := bindings.bound(function.python_function, *args, **kwargs):
        # To tracing a default and the same explicit value are one call.
        call.apply_defaults()
        bound = call.arguments
    leaves = (leaf for given in bound.items() for leaf in fast_forward.leaves(*given))
    return {path: described(value) for path, value in leaves}


def described(value: object) -> tuple[LeafKind, str]:
    """The kind of a leaf, and what a trace depends on: `float32[1024, 784]` of a tensor."""
    value = user_lines.first_replica_value(value)
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return "python value", f"{type(value).__name__} {value!r}"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape is not None and dtype is not None:
        return "tensor", f"{getattr(dtype, 'name', str(dtype))}{_dimensions(shape)}"
    # For a strategy's iterator tracing depends on its elements, not its identity.
    spec: object = privates.TYPE_SPEC.of(value, None)
    if spec is not None:
        return "iterator", f"{type(value).__name__} of {spec}"
    return "object", f"{type(value).__name__} at {id(value):#x}"


def _dimensions(shape: Iterable[int | None]) -> str:
    try:
        return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
    # A TensorShape of unknown rank cannot be iterated.
    except ValueError:
        return "[unknown rank]"


def changes(old: Signature, new: Signature) -> list[ArgumentChange]:
    """The arguments that differ between two signatures."""
    differing: list[ArgumentChange] = []
    for path in sorted(old.keys() | new.keys()):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        kind: ChangeKind
        if before is None or after is None:
            kind = "structure"
        elif path == "":
            kind = "new function"
        elif before[0] == after[0] == "tensor":
            same_type = before[1].partition("[")[0] == after[1].partition("[")[0]
            kind = "shape" if same_type else "dtype"
        else:
            kind = after[0] if after[0] != "tensor" else before[0]
        differing.append(
            ArgumentChange(path or "the function itself", _text(before), _text(after), kind)
        )
    return differing


def _text(leaf: tuple[LeafKind, str] | None) -> str:
    if leaf is None:
        return "absent"
    return leaf[1] if len(leaf[1]) <= 120 else leaf[1][:117] + "..."
