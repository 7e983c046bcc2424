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
    Args,
    Call,
    Library,
    hooks,
    interventions,
    privates,
    table,
    user_lines,
)
from tpudiag.sources.job.points.library_objects import Dataset, Tensor

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
        """One for loop of a function that is being traced."""
        whole = not interventions.allowed(InterventionKind.LOOPS)
        if whole or self._tf.executing_eagerly() or self._in_replica():
            return original(iter_, extra_test, body, *rest)
        graphs_own = self._tf.is_tensor(iter_) and not hasattr(iter_, "numpy")
        if graphs_own and iter_.op.type == "Range" and iter_.dtype.is_integer:
            self._range(original, iter_, extra_test, body, rest)
        elif isinstance(iter_, self._tf.data.Dataset):
            self._dataset(original, iter_, extra_test, body, rest)
        else:
            return original(iter_, extra_test, body, *rest)
        return None

    def _range(
        self, original: Call, iter_: Tensor, extra_test: object, body: object, rest: Args
    ) -> None:
        """A loop over tf.range, its length capped where its body takes steps."""
        tf = self._tf
        start, limit, delta = iter_.op.inputs
        cap = tf.constant(_OUT_OF_REACH, tf.int64)
        first, last, by = (tf.cast(each, tf.int64) for each in (start, limit, delta))
        # Rounded up, for steps of either sign.
        length = tf.maximum((last - first + by - tf.sign(by)) // by, 0)
        end = tf.cast(first + by * tf.minimum(length, cap), limit.dtype)
        before = self._steps_seen()
        original(tf.range(start, end, delta), extra_test, body, *rest)
        if self._steps_seen() == before:
            return
        bounds = [tf.get_static_value(each) for each in (start, limit, delta)]
        requested = None if None in bounds else len(range(*map(int, bounds)))
        self.turns = min(requested or INNER_STEPS, INNER_STEPS)
        if requested is None or requested > INNER_STEPS:
            _set_constant(tf, cap, INNER_STEPS)
            self._note("tf.range", requested)
            # A length that is an argument of the function is known only at its calls: keep its
            # name.
            plain = limit.op.type == "Placeholder" and tf.get_static_value(start) == 0
            self._on_shortened(limit.op.name if plain and requested is None else requested)

    def _dataset(
        self, original: Call, iter_: Dataset, extra_test: object, body: object, rest: Args
    ) -> None:
        """A loop over a dataset, which ends early where its body takes steps."""
        cap = self._tf.constant(_OUT_OF_REACH, self._tf.int64)
        before = self._steps_seen()
        original(iter_.take(cap), extra_test, body, *rest)
        if self._steps_seen() != before:
            _set_constant(self._tf, cap, INNER_STEPS)
            self.turns = INNER_STEPS
            self._note("a dataset", None)
            self._on_shortened(None)

    def _note(self, kind: ShortenedOver, requested: int | None) -> None:
        """A loop was shortened; a retraced one is the same."""
        interventions.note(InterventionKind.LOOPS)
        loop = ShortenedLoop(kind, user_lines.caller(), INNER_STEPS, requested)
        if loop not in self.shortened:
            self.shortened.append(loop)


def _set_constant(tf: Library, tensor: Tensor, value: int) -> None:
    """Change a constant of a graph that is still being traced."""
    proto = tf.compat.v1.AttrValue(tensor=tf.make_tensor_proto(value, tensor.dtype))
    privates.SET_ATTRIBUTE.of(tensor.op)("value", proto)
