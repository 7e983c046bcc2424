"""Shortens loops of training steps inside a tf.function: `for _ in tf.range(steps)`.

AutoGraph turns such a loop into a While operation through one function, `for_stmt`; it is private
(`autograph.operators`, the same on TensorFlow 2.13 to 2.21), and where it moved loops run in full.
A loop's length is capped by a constant in the graph, set low once its body was seen to run replicas
or take gradients, and out of reach for any other loop. Loops inside a replica's step (gradient
accumulation) are the model's and stay unchanged; so do loops over a distributed dataset, whose
iterator TensorFlow does not release before its end.
"""

from collections.abc import Callable
from typing import Any

from tpudiag.script_run import InterventionKind, ShortenedOver
from tpudiag.signals import ShortenedLoop
from tpudiag.sources.job.points import (
    Call,
    Library,
    hooks,
    interventions,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Tensor

INNER_STEPS = 4
_OUT_OF_REACH = 2**31 - 1


class InnerLoopWatch:
    """Hooks AutoGraph's for loops; `steps_seen` counts traced steps, to detect step loops."""

    def __init__(
        self,
        tf: Library,
        steps_seen: Callable[[], int],
        in_replica: Callable[[], bool],
        on_shortened: Callable[[int | str | None], None],
    ) -> None:
        """`on_shortened` gets a loop's length: a number, the argument that holds it, or None."""
        self._tf, self._steps_seen, self._in_replica = tf, steps_seen, in_replica
        self._on_shortened = on_shortened
        self.shortened: list[ShortenedLoop] = []
        self.turns = 1
        """Of the last loop of steps, as shortened: the steps of a call that is only traced."""
        hooks.around(table.LOOP_IN_GRAPH, self._for)

    def _for(
        self, original: Call, iter_: Any, extra_test: object, body: object, *rest: object
    ) -> object:
        """One for loop of a function that is being traced, capped where its body takes steps."""
        tf = self._tf
        whole = not interventions.allowed(InterventionKind.LOOPS)
        over_data = isinstance(iter_, tf.data.Dataset)
        in_graph = tf.is_tensor(iter_) and not hasattr(iter_, "numpy")
        over_range = in_graph and iter_.op.type == "Range" and iter_.dtype.is_integer
        kept = whole or tf.executing_eagerly() or self._in_replica()
        if kept or not (over_data or over_range):
            return original(iter_, extra_test, body, *rest)
        cap, before = tf.constant(_OUT_OF_REACH, tf.int64), self._steps_seen()
        capped = iter_.take(cap) if over_data else self._capped(iter_, cap)
        original(capped, extra_test, body, *rest)
        if self._steps_seen() == before:
            return None
        length = None if over_data else self._length(iter_)
        requested = length if isinstance(length, int) else None
        self.turns = min(requested or INNER_STEPS, INNER_STEPS)
        if requested is None or requested > INNER_STEPS:
            proto = tf.compat.v1.AttrValue(tensor=tf.make_tensor_proto(INNER_STEPS, cap.dtype))
            # The graph is still being traced.
            privates.SET_ATTRIBUTE.of(cap.op)("value", proto)
            interventions.note(InterventionKind.LOOPS)
            over: ShortenedOver = "a dataset" if over_data else "tf.range"
            loop = ShortenedLoop(over, user_lines.caller(), INNER_STEPS, requested)
            if loop not in self.shortened:  # a retraced one is the same
                self.shortened.append(loop)
            self._on_shortened(length)
        return None

    def _capped(self, range_: Tensor, cap: Tensor) -> object:
        """The first of a range's numbers."""
        tf = self._tf
        start, limit, delta = range_.op.inputs
        first, last, by = (tf.cast(each, tf.int64) for each in (start, limit, delta))
        # Rounded up, for steps of either sign.
        length = tf.maximum((last - first + by - tf.sign(by)) // by, 0)
        return tf.range(start, tf.cast(first + by * tf.minimum(length, cap), limit.dtype), delta)

    def _length(self, range_: Tensor) -> int | str | None:
        """The length of a range; the name of the argument that holds it, known only at calls."""
        bounds = [self._tf.get_static_value(each) for each in range_.op.inputs]
        if None not in bounds:
            return len(range(*map(int, bounds)))
        limit = range_.op.inputs[1].op
        return limit.name if limit.type == "Placeholder" and bounds[0] == 0 else None
