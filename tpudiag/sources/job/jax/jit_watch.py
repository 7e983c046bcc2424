"""Follows all functions that jax.jit makes: their calls and compilations."""

import contextlib
import functools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import TrainedInEvaluation
from tpudiag.sources.job.jax import dropouts
from tpudiag.sources.job.jax.jitted import Jitted, Record, StepCall
from tpudiag.sources.job.jax.kept_step import KeptStep
from tpudiag.sources.job.jax.numbers_seen import NumbersSeen
from tpudiag.sources.job.jax.script_remainder import RestOfScript
from tpudiag.sources.job.jax.state_values import LOOKS, StateValues
from tpudiag.sources.job.jax.step_gaps import StepGaps
from tpudiag.sources.job.points import (
    Args,
    Call,
    Kwargs,
    Library,
    barrier,
    hooks,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.python_slots import Numbers
from tpudiag.sources.job.tensorflow.watches.python_state import PythonStateWatch

Fills = Callable[[bool, Callable[[Args, Kwargs], bool], Args, Kwargs], "tuple[Args, Kwargs] | None"]


class JitWatch:
    """All functions of jax.jit that the job and its libraries make and call."""

    def __init__(self, on_step: Callable[[bool], None]) -> None:
        self._on_step = on_step
        self.waits = False
        """Whether each training step is waited for, as a rehearsal does to time it."""
        self._jax: Library
        self.compilations = 0
        self.compiling_s = 0.0
        self.gaps = StepGaps()
        self._active = threading.local()
        self.records: dict[object, Record] = {}
        self.kept = KeptStep()
        self.state: PythonStateWatch
        self.rest: RestOfScript | None = None
        """Where the script goes on past the observed steps."""
        self.numbers: NumbersSeen | None = None
        """Where runs are to be compared."""
        self.fills: Fills = lambda _mapped, _traces, _args, _kwargs: None
        """What a function is called with in place of data that are not there."""
        self.on_results: Callable[[dict[int, object]], None] = lambda _: None
        self.on_answer: Callable[[], None] = lambda: None
        """Told of each training step that is given its last result."""
        self.on_operation_compiled: Callable[[], None] = lambda: None
        """Told of each program that none of these functions is compiled to."""
        self.on_lasted: Callable[[Record, float | None], None] = lambda _record, _took_ms: None
        """Told of each call of what was compiled before; None where it was answered."""
        self.on_first_call: Callable[[StepCall], None] = lambda _: None
        """Told of the first call of a function that trains before it runs."""
        self.evaluates_in_training_mode: TrainedInEvaluation | None = None
        """Layers of a function that is given the model and does not train; None before one is."""
        self.mesh_made = False
        """JAX was asked to put a mesh in order."""
        self.eager_location: Location | None = None
        """Where gradients were first taken outside all functions of jax.jit."""

    def watch(self, jax: Library) -> None:
        """Hook jax.jit and what takes gradients."""
        self._jax, self.kept.jax, self._ready = jax, jax, jax.block_until_ready
        if self.rest is not None:
            self.rest.leaves = jax.tree_util.tree_leaves
        jax.monitoring.register_event_duration_secs_listener(self._compiled_one)
        self.jit = jax.jit  # the library's own
        hooks.around(table.JITTED, self._jit, jax)
        hooks.around(table.MAPPED, functools.partial(self._jit, mapped=True), jax)
        for each in table.DIFFERENTIATED.each():
            hooks.around(each, functools.partial(self._gradient, each.names[0]), jax)
        hooks.before(table.MESH_MADE, self._mesh, jax)
        self.state = PythonStateWatch(
            self._traced_now, lambda record: isinstance(record, Record) and record.runs_again()
        )

    def step_calls(self) -> int:
        """How often the step was called, those that were answered among them."""
        step = self.kept.step
        return step.record.calls + step.record.forwarded if step is not None else 0

    def _mesh(self, *_: object, **__: object) -> None:
        self.mesh_made = True

    def _compiled_one(self, event: str, seconds: float, **_: object) -> None:
        if event == privates.JAX_COMPILED:
            self.compilations += 1
            self.compiling_s += seconds
            if self._outermost is None:
                barrier.attempt("program of an operation", self.on_operation_compiled)

    def _jit(self, original: Call, *args: object, mapped: bool = False, **kwargs: object) -> object:
        """jax.jit is called; as a decorator with options it gives a decorator."""
        function: Any = args[0] if args else kwargs.get("fun")
        if function is None:
            return functools.partial(self._jit, original, mapped=mapped, **kwargs)
        compiled = original(*args, **kwargs)
        given = compiled, function, kwargs, mapped
        return barrier.attempt("jax.jit", self._followed, *given) or compiled

    def _followed(
        self, compiled: object, function: Callable[..., object], options: Kwargs, mapped: bool
    ) -> Jitted:
        """The same with its calls followed."""
        inner = user_lines.unwrapped(function)
        code, location = getattr(inner, "__code__", inner), user_lines.of_function(inner)
        name = getattr(inner, "__qualname__", None) or type(inner).__name__
        # Of the same code and made at the same line: a loop makes it anew.
        key = (id(code), str(user_lines.caller()))
        record = self.records.setdefault(key, Record(name.replace("<locals>.", ""), location))
        record.made += 1
        record.made_by = record.made_by or user_lines.taker()
        return Jitted(compiled, function, self, record, options, mapped)

    def _gradient(
        self, name: str, original: Callable[..., Any], *args: object, **kwargs: object
    ) -> object:
        """A function that takes gradients is made, or (vjp) they are taken."""
        if name in ("vjp", "linearize"):
            barrier.attempt("gradient", self._took_gradient)
            return original(*args, **kwargs)
        taken = original(*args, **kwargs)

        @functools.wraps(taken)
        def gradient(*inner: object, **named: object) -> object:
            eager = barrier.attempt(
                "gradient", lambda: self._took_gradient() and not self._is_traced(inner, named)
            )
            result = taken(*inner, **named)
            if eager:
                barrier.attempt("step of JAX", self._on_step, True)
            return result

        return gradient

    @property
    def _outermost(self) -> Jitted | None:
        """The function that this thread traces or runs."""
        return getattr(self._active, "outermost", None)

    def _took_gradient(self) -> bool:
        """Gradients are taken: by the function that is traced now, or else (True) eagerly."""
        if self._outermost is not None:
            self._outermost.record.trains = True
            return False
        self.eager_location = self.eager_location or user_lines.caller()
        return True

    def lowered(self, jitted: Jitted, compiled: Any, args: Args, kwargs: Kwargs) -> object:
        """The job lowers a function: whether it takes gradients is seen as in a call."""
        with hooks.instead(self._active, outermost=self._outermost or jitted):
            return compiled.lower(*args, **kwargs)

    def called(self, jitted: Jitted, compiled: Any, args: Args, kwargs: Kwargs) -> object:
        """A call of the job's; what it gives, and how it fails, is the job's own."""
        nested = self._outermost is not None
        # Where our look at the arguments fails (static ones may be anything), the call is let be.
        if nested or barrier.attempt("arguments", self._is_traced, args, kwargs) is not False:
            return compiled(*args, **kwargs)
        before = barrier.attempt("state of Python", self._state, jitted, args) or {}
        traces = functools.partial(self._traces, jitted)
        whole = barrier.attempt("holes", self.fills, jitted.mapped, traces, args, kwargs)
        args, kwargs = whole or (args, kwargs)
        jitted.filled = whole is not None
        answer = self._answered(jitted, args, kwargs, before)
        if answer is not None:
            return answer[0]
        if self.waits and not getattr(self._jax.config, "jax_disable_jit", False):
            self._about_to_run(jitted, args, kwargs)
        with hooks.instead(self._active, outermost=jitted):
            compilations, began = self.compilations, time.perf_counter()
            result = compiled(*args, **kwargs)
        record = jitted.record
        barrier.attempt("values of the step", self._gave, jitted, result)
        # Without arguments it may be called within a transformation, and give what holds no values.
        traced = barrier.attempt("result", self._is_traced, (result,), {})
        aside = self._is_aside(record) and traced is False
        if aside or (record.trains and self.waits):
            # JAX dispatches and goes on: a step's time is known only when its results are there.
            barrier.attempt("end of the step", self._ready, result)
        ended, new = time.perf_counter(), self.compilations > compilations
        took_ms = (ended - began) * 1e3
        if record.trains:
            at = barrier.attempt("line of the step", user_lines.caller)
            self.gaps.stepped(began, ended, at, new)
        traced_now = new or not record.calls
        barrier.attempt("state of Python", self.state.after, jitted, before, traced_now)
        barrier.attempt("call of jit", self._note, jitted, args, kwargs, result, new, took_ms)
        if not new:
            barrier.attempt("pauses", self.on_lasted, record, took_ms)
        if self.rest is not None and (aside or record.trains):
            spent_s = ended - began if aside and not new else 0.0
            barrier.attempt("step ran", self.rest.ran, record, (args, kwargs), result, spent_s)
        if record.trains:
            barrier.attempt("step of JAX", self._on_step, False)
            self.gaps.over(time.perf_counter())
        return result

    def _about_to_run(self, jitted: Jitted, args: Args, kwargs: Kwargs) -> None:
        """A function may be one that trains."""
        record, seen = jitted.record, self.evaluates_in_training_mode
        # JAX keeps the trace for the call.
        first = not (record.calls or jitted.mapped) and self._traces(jitted, args, kwargs)
        if first and record.trains:
            self.on_first_call(self.kept.as_called(jitted, args, kwargs))
        elif first and not (seen is not None and seen.layers):
            barrier.attempt("evaluation", self._look_at_evaluation, jitted, args, kwargs)
        # Whether one of jax.pmap trains is not known before its first call.
        if record.trains or (jitted.mapped and not record.calls):
            barrier.attempt("values of the step", self._look_at, jitted, args, kwargs)

    def _look_at_evaluation(self, jitted: Jitted, args: Args, kwargs: Kwargs) -> None:
        """A function that does not train is given the model that was trained."""
        at = user_lines.caller()
        if not self.kept.takes_results(args, kwargs):
            return
        with hooks.instead(self._active, outermost=jitted):
            seen = dropouts.read(jitted.trace(*args, **kwargs).jaxpr.jaxpr)
        self.evaluates_in_training_mode = replace(seen, location=seen.location or at)

    def _state(self, jitted: Jitted, args: Args) -> Numbers:
        """The Python numbers that a function uses; of one that is made anew each time, none."""
        return self.state.before(jitted, *args[:1]) if jitted.record.made == 1 else {}

    def _traced_now(self) -> Record | None:
        """The record of the function that is traced now; what a program calls back is not."""
        outermost = self._outermost
        called_back = outermost and user_lines.under(privates.CALLBACKS)
        return outermost.record if outermost and not called_back else None

    def _answered(
        self, jitted: Jitted, args: Args, kwargs: Kwargs, before: Numbers
    ) -> tuple[object] | None:
        """What a call is given in place of a run, in a tuple; None where it is to run."""
        if self.rest is None:
            return None
        if jitted.record.trains:
            self.rest.deadline.check()
        elif not self._is_aside(jitted.record):
            return None
        answer = barrier.attempt("last step", self.rest.answer, jitted.record, args, kwargs)
        if answer is None:
            return None
        # A rate that the job lowers late is a number of its program, too.
        barrier.attempt("state of Python", self.state.after, jitted, before, False)
        if jitted.record.trains:
            self.on_answer()
        barrier.attempt("pauses", self.on_lasted, jitted.record, None)
        return answer

    def _is_aside(self, record: Record) -> bool:
        """Whether it does not train, and no steps are observed now."""
        if self.rest is None or record.trains:
            return False
        none_yet = self.kept.step is None and self.eager_location is None
        return none_yet or self.rest.deadline.began is not None

    def _look_at(self, jitted: Jitted, args: Args, kwargs: Kwargs) -> None:
        """The values of what is about to be given to a function that may train."""
        values = jitted.record.values
        if values is None:
            values = jitted.record.values = StateValues(self._jax, jitted.mapped)
        if values.looks < LOOKS:
            self.on_results({})  # what is fetched here is ours
            began = time.perf_counter()
            values.before((args, kwargs))
            self.gaps.looked(time.perf_counter() - began)

    def _gave(self, jitted: Jitted, result: object) -> None:
        """What a call gave tells of the values that the step is given."""
        step, values = self.kept.step, jitted.record.values
        if values is not None and values.looks == 1:
            values.after(result)
        elif not jitted.record.trains and step is not None and step.record.values is not None:
            step.record.values.called_beside(jitted.mapped, result)

    def _traces(self, jitted: Jitted, args: Args, kwargs: Kwargs) -> bool:
        """Whether a function can be traced with these; else its own call fails as well."""
        with hooks.instead(self._active, outermost=jitted), contextlib.suppress(Exception):
            jitted.trace(*args, **kwargs)
            return True
        return False

    def _is_traced(self, args: Args, kwargs: Kwargs) -> bool:
        """Whether a call is within a transformation, and runs nothing."""
        leaves = self._jax.tree_util.tree_leaves((args, kwargs))
        return any(isinstance(leaf, self._jax.core.Tracer) for leaf in leaves)

    def _note(
        self, jitted: Jitted, args: Args, kwargs: Kwargs, result: object, new: bool, took_ms: float
    ) -> None:
        record = jitted.record
        jitted.ran(self._jax, args, kwargs, new, took_ms)
        if not record.trains:
            self.kept.ran_beside(args, kwargs, result)
        else:
            self.kept.ran(jitted, args, kwargs, new)
            leaves = self._jax.tree_util.tree_leaves(result)
            if self.numbers is not None:
                self.on_results({})  # what is fetched next is ours
                self.numbers.step(leaves)
            record.gave(leaves)
            self.on_results(self.kept.gave(record, leaves))
