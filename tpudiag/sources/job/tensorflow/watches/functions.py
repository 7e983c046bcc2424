"""Watches calls of tf.function: retraces and their cause, and which functions train.

`type(tf.function(f)).__call__` is the one method that every tf.function passes through; it and
`experimental_get_tracing_count` were tested on TensorFlow 2.16 to 2.21.
"""

import contextlib
import inspect
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import StepFunction, TracedFunction
from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Function
from tpudiag.sources.job.tensorflow.shortening.fast_forward import FastForward
from tpudiag.sources.job.tensorflow.watches.function_record import FunctionRecord


class FunctionWatch:
    """Hooks tf.function calls; `current` is the outermost one being called, None outside."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self.before_call: Callable[[Args, Kwargs], None] = lambda _, __: None
        """Called with the arguments of an outermost call."""
        self.after_call: Callable[[FunctionRecord, bool], None] = lambda _, __: None
        """Called after an outermost one; the flag: whether it was traced."""
        self.after_training: Callable[[Function, Args, Kwargs], None] | None = None
        """Called with a training function and its arguments, after a call that traced it."""
        self._records: dict[tuple[object, ...], FunctionRecord] = {}
        self._keys: dict[int, tuple[object, ...]] = {}
        self._instances: dict[int, object] = {}
        self._thread = threading.current_thread()
        self.current: FunctionRecord | None = None
        self.forward: FastForward | None = None
        self.call: Call = _call
        """Makes or answers an outermost call, given its record and arguments."""
        self.before_step: Callable[[object], None] = lambda _: None
        self.made_eager_at: Location | None = None
        """The line that made all functions run eagerly, None while they do not."""
        self.class_: type = type(tf.function(lambda: 0))
        hooks.around(table.FUNCTION_CALLED, self._called, self.class_)
        hooks.before(table.MADE_EAGER, self._note_eager)

    def _note_eager(self, run_eagerly: bool = True) -> None:
        self.made_eager_at = user_lines.caller() if run_eagerly else None

    def facts(self) -> tuple[TracedFunction, ...]:
        """All functions called so far, those of the user first."""
        records = sorted(self._records.values(), key=lambda record: record.location is None)
        return tuple(record.fact() for record in records if record.calls)

    def step_functions(self) -> tuple[StepFunction, ...]:
        """The training functions, with the job's number of calls."""
        training = (record for record in self._records.values() if record.trains)
        return tuple(record.step(record.usual_ms) for record in training)

    def _called(
        self, original: Call, function: Function, *args: object, **kwargs: object
    ) -> object:
        # Nested calls belong to the outer one; threads of tf.data and callbacks do not show the
        # job's order of steps.
        outermost = self.current is None and threading.current_thread() is self._thread
        if not outermost or not self._tf.executing_eagerly():
            return original(function, *args, **kwargs)
        record = self._record(function)
        if self.forward is None:
            return self._run(record, original, function, args, kwargs)
        record.in_pass(self.forward.passes)
        result = self._result(self.forward, record, original, function, args, kwargs)
        record.calls_in_pass += 1
        return result

    def _result(
        self, forward: FastForward, record: FunctionRecord, original: Call, function: Function,
        args: Args, kwargs: Kwargs,
    ) -> object:  # fmt: skip
        """What a call gives: by running it, or an earlier one's result."""
        # The first call always runs: its trace provides all that checks know of the function.
        if not record.is_step or record.calls == 0:
            later = forward.training_too and not record.calls
            before = forward.counts() if later else []
            started = time.perf_counter()
            result = self._run(record, original, function, args, kwargs)
            if record.is_step and (later or not record.trains):
                key = record.key(function, args, kwargs, forward.whole_results)
                forward.first(key, result, time.perf_counter() - started, before)
            return result
        self.before_step((args, kwargs))
        run = partial(self._run, record, original, function, args, kwargs)
        key = record.key(function, args, kwargs, forward.whole_results)
        if key is None:
            return run()
        if not forward.may_forward(record.trains):
            return run() if forward.knows(key) else forward.run(key, run)
        # What a library makes for a model of its own makes that model's variables and metrics.
        first = record.location is None and not function.experimental_get_tracing_count()
        known = None if first else forward.last(key, record.trains, spare=record.skipped)
        if known is None:
            try:
                return forward.run(key, run)
            except (StopIteration, self._tf.errors.OutOfRangeError):
                known = forward.past_the_end(key, record.calls_in_pass, record.longest_pass)
                if known is None:
                    raise
        forward.end_if_endless(record.calls_in_pass, record.longest_pass)
        record.forwarded += 1
        return forward.answer(known)

    def _run(
        self, record: FunctionRecord, original: Call, function: Function, args: Args, kwargs: Kwargs
    ) -> object:
        forward = self.forward
        if forward is not None:
            forward.move_counters()
        counts = forward.counts() if forward and (record.loops or not record.calls) else []
        record.called_at = record.called_at or user_lines.caller()
        self.before_call(args, kwargs)
        # Only the count shows whether a call traced: a trace for another signature leaves no other
        # mark.
        before = function.experimental_get_tracing_count()
        self.current = record
        started = time.perf_counter()
        try:
            result = self.call(record, original, function, args, kwargs)
        finally:
            self.current = None
            record.calls += 1
            traced = function.experimental_get_tracing_count() != before
            took_ms = (time.perf_counter() - started) * 1e3
            if traced:
                model = _model(function.python_function)
                record.traced(function, args, kwargs, took_ms, model)
            else:
                record.ran(took_ms)
        if traced and record.trains and self.after_training is not None:
            self.after_training(function, args, kwargs)
        self.after_call(record, traced)
        if forward is not None and record.loops:
            forward.catch_up(counts, record.times_shortened(function, args, kwargs))
        return result

    def _record(self, function: Function) -> FunctionRecord:
        """A function's record, shared by those recreated from its code for the same object."""
        python_function = function.python_function
        key = self._keys.get(id(function))
        if key is None:
            codes = _codes(python_function)
            key = (*codes, id(_owner(python_function))) if codes else (id(function),)
            self._keys[id(function)] = key
        record = self._records.get(key)
        if record is None:
            location = user_lines.of_function(user_lines.unwrapped(python_function))
            name = getattr(python_function, "__name__", type(python_function).__name__)
            record = self._records[key] = FunctionRecord(name=name, location=location)
        if id(function) not in self._instances:
            self._instances[id(function)] = function  # kept, so that ids stay unique
            record.instances += 1
        return record


def _call(
    _: FunctionRecord, original: Call, function: Function, args: Args, kwargs: Kwargs
) -> object:
    return original(function, *args, **kwargs)


def _owner(function: object) -> object:
    """The object whose method a tf.function is, since each of a model's layers may have its own;
    None for a plain function."""
    while True:
        owner = getattr(function, "__self__", None)
        inner = getattr(function, "python_function", None) or getattr(function, "__wrapped__", None)
        if owner is not None or inner is None:
            # TensorFlow holds a decorated method's object by its own weak reference.
            held = type(owner).__name__ == "TfMethodTarget"
            return getattr(owner, "target", owner) if held else owner
        function = inner


def _model(function: object, depth: int = 5) -> object:
    """The model that a library made a function for, which stands in a closure; None of another."""
    inner: Any = user_lines.unwrapped(getattr(function, "python_function", function))
    for cell in (getattr(inner, "__closure__", None) or ()) if depth else ():
        with contextlib.suppress(ValueError):  # an empty cell
            value = cell.cell_contents
            if hasattr(value, "train_step") and user_lines.of_function(inner) is None:
                return value
            if inspect.isfunction(value) and (found := _model(value, depth - 1)) is not None:
                return found
    return None


def _codes(function: Callable[..., object], depth: int = 5) -> tuple[object, ...]:
    """The code of a function and, for a library's, of those in its closure.

    Keras makes the training and evaluating functions from the same code, around other steps.
    """
    # tf.function(tf.function(f)), functools.wraps and Keras' wrappers: the user's code is nested
    # several objects deep.
    inner = user_lines.unwrapped(getattr(function, "python_function", function))
    inner = user_lines.unwrapped(getattr(inner, "python_function", inner))
    code = getattr(inner, "__code__", None)
    if code is None:
        return ()
    codes: list[object] = [code]
    if depth and user_lines.of_function(inner) is None:
        for cell in getattr(inner, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # an empty cell
                value = cell.cell_contents
                if callable(value) and not isinstance(value, type):
                    codes.extend(_codes(value, depth - 1))
    return tuple(codes)
