"""Watches strategy.run: one replica's inputs, and steps that run eagerly."""

import time
from collections.abc import Callable
from functools import partial

from tpudiag.model import Location
from tpudiag.signals import TensorSeen
from tpudiag.sources.job.points import Args, Call, Kwargs, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Strategy
from tpudiag.sources.job.tensorflow.shortening import fast_forward
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch


class StrategyWatch:
    """Hooks Strategy.run; `eager_depth` is above 0 while a step runs eagerly inside it."""

    def __init__(self, tf: Library, functions: FunctionWatch) -> None:
        self._tf, self._functions = tf, functions
        self.replicas: int | None = None
        """The replicas of the strategy that ran last."""
        self.most_replicas: int | None = None
        """The replicas of the largest strategy made."""
        self.last_inputs: tuple[TensorSeen, ...] = ()
        self.eager_location: Location | None = None
        self.before_eager_run: Callable[[Args, Kwargs], None] = lambda _, __: None
        self.after_eager_run: Callable[[object, float], None] = lambda _, __: None
        """Told of what ran, and of its processor time in ms."""
        self.before_first_run: Callable[[], None] | None = None
        self._inside = False
        self.runs = 0
        for made in (table.MIRRORED_STRATEGY_MADE, table.TPU_STRATEGY_MADE):
            hooks.after(made, self._made)
        hooks.around(table.STRATEGY_RUN, self._called)

    def in_replica(self) -> bool:
        """Whether a replica's step is being traced or run."""
        return self._inside

    def _made(self, strategy: Strategy, *_: object, **__: object) -> None:
        self.most_replicas = max(self.most_replicas or 1, strategy.num_replicas_in_sync)

    def _called(
        self,
        original: Call,
        strategy: Strategy,
        fn: object,
        args: Args = (),
        kwargs: Kwargs | None = None,
        options: object = None,
    ) -> object:
        call = partial(original, strategy, fn, args=args, kwargs=kwargs, options=options)
        if self._inside:
            return call()
        with hooks.instead(self, _inside=True):
            if self.before_first_run is not None:
                self.before_first_run()
                self.before_first_run = None
            self.replicas = strategy.num_replicas_in_sync
            self.last_inputs = self._inputs((args, kwargs or {}))
            self.runs += 1
            if self._functions.current is not None:
                self._functions.current.replicated = True
            eager = self._tf.executing_eagerly() and not isinstance(fn, self._functions.class_)
            return self._run_eagerly(call, fn, args) if eager else call()

    def _run_eagerly(self, call: Callable[[], object], fn: object, args: Args) -> object:
        self.before_eager_run(args, {})
        self.eager_location = self.eager_location or user_lines.caller()
        self._functions.before_step(args)
        forward = self._functions.forward
        if forward is not None and forward.may_forward(trains=True):
            # By code: a closure recreated for each step is the same step.
            code, whole = getattr(fn, "__code__", fn), forward.whole_results
            key = fast_forward.signature(code, args, {}, 1, whole)
            if key is None:
                return call()
            known = forward.last(key)
            return forward.run(key, call) if known is None else forward.answer(known)
        began = time.process_time()
        result = call()
        self.after_eager_run(fn, (time.process_time() - began) * 1e3)
        return result

    def _inputs(self, arguments: object) -> tuple[TensorSeen, ...]:
        seen: list[TensorSeen] = []
        for index, leaf in enumerate(self._tf.nest.flatten(arguments)):
            value = user_lines.first_replica_value(leaf)
            shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
            if shape is None or dtype is None or not hasattr(shape, "rank"):
                continue
            sizes = None if shape.rank is None else tuple(shape.as_list())
            seen.append(TensorSeen(f"argument {index}", getattr(dtype, "name", str(dtype)), sizes))
        return tuple(seen)
