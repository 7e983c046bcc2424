"""Watches calls of tf.function: which are traced again, which argument made it so, which train.

`type(tf.function(f)).__call__` is the one seam that every tf.function passes through; it and
`experimental_get_tracing_count` were tried on TensorFlow 2.16 to 2.21.
"""

from __future__ import annotations

import contextlib
import inspect
import statistics
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, cast

from tpudiag.model import Location
from tpudiag.signals import ArgumentChange, Retrace, StepFunction, TracedFunction
from tpudiag.signals.step import ChangeKind, LeafKind
from tpudiag.sources.job.tensorflow import fast_forward, hooks, user_lines
from tpudiag.sources.job.tensorflow.fast_forward import FastForward
from tpudiag.sources.job.tensorflow.loops import INNER_STEPS

MAXIMUM_RETRACES_KEPT = 20
MAXIMUM_TIMES_KEPT = 1000

Signature = dict[str, tuple[LeafKind, str]]
"""Path of an argument -> (kind, description)."""


@dataclass
class _Seen:
    """What is known of one tf.function, or of all made from the same code."""

    name: str
    location: Location | None
    calls: int = 0
    traces: int = 0
    instances: int = 0
    trains: bool = False
    replicated: bool = False
    """It calls strategy.run."""
    forwarded: int = 0
    called_at: Location | None = None
    last_key: tuple[object, tuple[Any, int, object]] | None = None
    """Of the last call: its arguments, by identity and kept alive, and its key."""
    took_ms: list[float] = field(default_factory=list[float])
    loops: list[int | str | None] = field(default_factory=list[int | str | None])
    """The lengths of its loops over steps that are shortened, or the arguments that hold them."""
    signatures: list[Signature] = field(default_factory=list[Signature])
    retraces: list[Retrace] = field(default_factory=list[Retrace])

    def key(self, function: Any, args: Any, kwargs: Any, every_replica: bool) -> object:
        """What calls that stand for one another have in common; the same arguments are known.

        None for a call that no other stands for.
        """
        if every_replica:
            whole = fast_forward.signature(function, args, kwargs, self.instances, True)
            return None if whole is None else (id(self), whole)
        same = id(function), tuple(map(id, args)), tuple(kwargs)
        if kwargs or self.last_key is None or self.last_key[0] != same:
            signature = fast_forward.signature(function, args, kwargs, self.instances)
            self.last_key = same, (args, id(self), signature)
        return self.last_key[1][1:]

    @property
    def is_step(self) -> bool:
        """Whether further calls may be answered with what an earlier one gave."""
        return self.trains or self.replicated

    def step(self) -> StepFunction:
        """The function as a training step."""
        median = round(statistics.median(self.took_ms), 3) if self.took_ms else None
        return StepFunction(
            name=self.name,
            location=self.location,
            called_at=self.called_at,
            ran=self.calls,
            forwarded=self.forwarded,
            call_ms=median,
        )

    def fact(self) -> TracedFunction:
        return TracedFunction(
            name=self.name,
            location=self.location,
            calls=self.calls,
            traces=self.traces,
            retraces=tuple(self.retraces),
            trains=self.trains,
        )


class FunctionWatch:
    """Hooks tf.function calls; `current` is the outermost one being called, None outside."""

    def __init__(self, tf: Any, after_call: Callable[[_Seen, bool], None]) -> None:
        self._tf = tf
        self.before_call: Callable[[Any, Any], None] = lambda _, __: None
        """Called with the arguments of an outermost call."""
        self._after_call = after_call
        self.after_training: Callable[[Any, Any, Any], None] | None = None
        """Called with a function that trains and its arguments, after a call that traced it."""
        self._by_code: dict[tuple[object, ...], _Seen] = {}
        self._keys: dict[int, tuple[object, ...]] = {}
        self._instances: dict[int, Any] = {}
        self._thread = threading.current_thread()
        self.current: _Seen | None = None
        self.forward: FastForward | None = None
        self.before_step: Callable[[Any], None] = lambda _: None
        self.made_eager_at: Location | None = None
        """The line that made all functions run eagerly, None while they do not."""
        self.class_: Any = type(tf.function(lambda: 0))
        self._install()
        for name in ("run_functions_eagerly", "experimental_run_functions_eagerly"):
            if hasattr(tf.config, name):
                hooks.before(tf.config, name, self._note_eager)

    def _note_eager(self, run_eagerly: bool = True) -> None:
        """All functions are made to run eagerly, or no longer."""
        self.made_eager_at = user_lines.caller() if run_eagerly else None

    def facts(self) -> tuple[TracedFunction, ...]:
        """All functions called so far, those of the user first."""
        seen = sorted(self._by_code.values(), key=lambda s: s.location is None)
        return tuple(item.fact() for item in seen if item.calls)

    def step_functions(self) -> tuple[StepFunction, ...]:
        """The functions that train, as often as the job called them."""
        return tuple(seen.step() for seen in self._by_code.values() if seen.trains)

    def _install(self) -> None:
        """Wrap the call of every tf.function."""
        watch = self

        def call(original: Any, function: Any, *args: Any, **kwargs: Any) -> Any:
            if watch.current is not None or threading.current_thread() is not watch._thread:
                return original(function, *args, **kwargs)
            if not watch._tf.executing_eagerly():
                return original(function, *args, **kwargs)
            return watch._observe(original, function, args, kwargs)

        hooks.around(self.class_, "__call__", call)

    def _observe(self, original: Any, function: Any, args: Any, kwargs: Any) -> Any:
        """One outermost call of a function: run, or answered where it was observed before."""
        seen = self._seen(function)
        forward = self.forward
        if forward is None or not seen.is_step or seen.calls == 0:
            return self._run(seen, original, function, args, kwargs)
        self.before_step((args, kwargs))
        run = partial(self._run, seen, original, function, args, kwargs)
        key = seen.key(function, args, kwargs, forward.whole_results)
        if key is None:
            return run()
        if not forward.may_forward(seen.trains):
            return run() if forward.knows(key) else forward.run(key, run)
        known = forward.last(key, seen.trains)
        if known is None:
            return forward.run(key, run)
        forward.end_if_endless()
        seen.forwarded += 1
        return forward.answer(known)

    def _run(self, seen: _Seen, original: Any, function: Any, args: Any, kwargs: Any) -> Any:
        """One outermost call that runs: traced or not, and with what."""
        forward = self.forward
        if forward is not None:
            forward.move_counters()
        counts = forward.counts() if forward and (seen.loops or not seen.calls) else []
        seen.called_at = seen.called_at or user_lines.caller()
        self.before_call(args, kwargs)
        before = function.experimental_get_tracing_count()
        self.current = seen
        started = time.perf_counter()
        try:
            result = original(function, *args, **kwargs)
        finally:
            self.current = None
            seen.calls += 1
            traced = function.experimental_get_tracing_count() != before
            took_ms = (time.perf_counter() - started) * 1e3
            if not traced and len(seen.took_ms) < MAXIMUM_TIMES_KEPT:
                seen.took_ms.append(took_ms)
            if traced:
                self._traced(seen, function, args, kwargs, took_ms)
        if traced and seen.trains and self.after_training is not None:
            self.after_training(function, args, kwargs)
        self._after_call(seen, traced)
        if forward is not None and seen.loops:
            forward.catch_up(counts, _times_shortened(seen, function, args, kwargs))
        return result

    def _seen(self, function: Any) -> _Seen:
        """The record of a function; functions made anew from the same code share one."""
        python_function = function.python_function
        key = self._keys.get(id(function))
        if key is None:
            key = self._keys[id(function)] = _codes(python_function) or (id(function),)
        seen = self._by_code.get(key)
        if seen is None:
            location = user_lines.of_function(inspect.unwrap(python_function))
            name = getattr(python_function, "__name__", type(python_function).__name__)
            seen = self._by_code[key] = _Seen(name, location)
        if id(function) not in self._instances:
            self._instances[id(function)] = function  # kept, so that ids stay unique
            seen.instances += 1
        return seen

    def _traced(self, seen: _Seen, function: Any, args: Any, kwargs: Any, took_ms: float) -> None:
        """A call that traced: find the argument that made it necessary."""
        seen.traces += 1
        signature = self._signature(function, args, kwargs)
        signature[""] = ("new function", f"tf.function number {seen.instances}")
        if seen.signatures and len(seen.retraces) < MAXIMUM_RETRACES_KEPT:
            changes = min((_changes(old, signature) for old in seen.signatures), key=len)
            seen.retraces.append(Retrace(seen.calls, took_ms, tuple(changes), user_lines.caller()))
        if len(seen.signatures) < MAXIMUM_RETRACES_KEPT:
            seen.signatures.append(signature)

    def _signature(self, function: Any, args: Any, kwargs: Any) -> Signature:
        """A description of every leaf of a call's arguments, by its path."""
        try:
            call = inspect.signature(function.python_function).bind(*args, **kwargs)
            call.apply_defaults()
            bound = call.arguments
        except (TypeError, ValueError):
            bound = {f"argument {index}": value for index, value in enumerate(args)} | kwargs
        leaves: Signature = {}
        for name, value in bound.items():
            self._describe(name, value, leaves)
        return leaves

    def _describe(self, path: str, value: Any, leaves: Signature) -> None:
        """Add the leaves of one argument."""
        if isinstance(value, dict):
            for key, item in cast(Mapping[Any, Any], value).items():
                self._describe(f"{path}[{key!r}]", item, leaves)
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(cast(Sequence[Any], value)):
                self._describe(f"{path}[{index}]", item, leaves)
        else:
            leaves[path] = self._leaf(value)

    def _leaf(self, value: Any) -> tuple[LeafKind, str]:
        """The kind of a leaf and what tracing looks at in it."""
        value = user_lines.first_replica_value(value)
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return "python value", f"{type(value).__name__} {value!r}"
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is not None and dtype is not None:
            name = getattr(dtype, "name", str(dtype))
            return "tensor", f"{name}{_dimensions(shape)}"
        return "object", f"{type(value).__name__} at {id(value):#x}"


def _codes(function: Any, depth: int = 5) -> tuple[object, ...]:
    """The code of a function and, of a library's, of those that it closes over.

    Keras makes the functions that train and that evaluate from the same code, around other steps.
    """
    inner = inspect.unwrap(getattr(function, "python_function", function))
    inner = inspect.unwrap(getattr(inner, "python_function", inner))
    code = getattr(inner, "__code__", None)
    if code is None:
        return ()
    codes: list[object] = [code]
    if depth and user_lines.of_function(inner) is None:
        for cell in getattr(inner, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # an empty cell
                value: Any = cell.cell_contents
                if callable(value) and not isinstance(value, type):
                    codes.extend(_codes(value, depth - 1))
    return tuple(codes)


def _times_shortened(seen: _Seen, function: Any, args: Any, kwargs: Any) -> float:
    """How many times longer the one loop of a call would be; 1 where that is not known."""
    length = seen.loops[-1] if len(set(seen.loops)) == 1 else None
    if isinstance(length, str):
        try:
            call = inspect.signature(function.python_function).bind(*args, **kwargs)
            length = int(call.arguments[length])
        except (TypeError, ValueError, KeyError):
            return 1.0
    return max(length / INNER_STEPS, 1.0) if length is not None else 1.0


def _dimensions(shape: Any) -> str:
    """A shape as [128, 784], `?` for an unknown dimension."""
    try:
        return "[" + ", ".join("?" if size is None else str(size) for size in shape) + "]"
    except ValueError:
        return "[unknown rank]"


def _changes(old: Signature, new: Signature) -> list[ArgumentChange]:
    """The arguments that differ between two signatures."""
    changes: list[ArgumentChange] = []
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
        changes.append(
            ArgumentChange(path or "the function itself", _text(before), _text(after), kind)
        )
    return changes


def _text(leaf: tuple[LeafKind, str] | None) -> str:
    """A leaf for the report, shortened."""
    if leaf is None:
        return "absent"
    return leaf[1] if len(leaf[1]) <= 120 else leaf[1][:117] + "..."
