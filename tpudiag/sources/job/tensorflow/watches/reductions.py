"""Watches how often the gradients of a step are reduced over the replicas."""

from collections.abc import Callable, Iterable
from typing import Any

from tpudiag.model import Location
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.tensorflow.graphs.constants import Constants
from tpudiag.sources.job.tensorflow.watches.training import GradientWatch

MOST_FOLLOWED = 60
"""Operations between a gradient and what is done with it: a clip, a cast."""
_KERAS = ("keras.", "tf_keras.")
_SCALES = ("Mul", "RealDiv", "DivNoNan")
Key = tuple[int, str]


class ReductionWatch:
    """Hooks ReplicaContext.all_reduce: by the job's own line, and by apply_gradients after it."""

    def __init__(self, tf: Library, gradients: GradientWatch) -> None:
        self._tf, self._gradients = tf, gradients
        self._reduced: dict[Key, Location] = {}
        """Gradients that a line of the job's has put together."""
        self.twice: Location | None = None
        """The line whose gradients were summed once more, and divided by nothing in between."""
        self.on_summed: Callable[[list[Any]], None] = lambda _: None
        """Called with the gradients that an optimizer gets."""
        hooks.around(table.ALL_REDUCED, self._reduce)

    def _reduce(
        self, original: Call, context: Any, reduce_op: object, value: object, *args: object,
        **kwargs: object,
    ) -> object:  # fmt: skip
        if self._tf.executing_eagerly():
            return original(context, reduce_op, value, *args, **kwargs)
        optimizer = _by_optimizer()
        if optimizer and "SUM" in str(reduce_op).upper():
            hooks.quietly(self._summed, self._tensors(value), context.num_replicas_in_sync)
        result = original(context, reduce_op, value, *args, **kwargs)
        where = user_lines.caller()
        if where is not None and not optimizer:
            hooks.quietly(self._by_hand, self._tensors(value), self._tensors(result), where)
        return result

    def _by_hand(self, given: list[Any], result: list[Any], where: Location) -> None:
        if self.of_gradients(given):
            self._reduced.update((key_of(each), where) for each in result)

    def of_gradients(self, tensors: list[Any]) -> bool:
        """Whether one of these is computed of a gradient, as a share or a sum of it."""
        calls = self._gradients.calls
        taken = {key_of(each) for call in calls for each in self._tensors(call.gradients)}
        return self.behind(tensors, taken) is not None

    def _summed(self, given: list[Any], replicas: int) -> None:
        """An optimizer sums: gradients that were put together already, or others."""
        self.on_summed(given)
        if self._reduced:
            found = self.behind(given, self._reduced, replicas)
            self.twice = self.twice or (self._reduced[found] if found is not None else None)

    def behind(
        self, tensors: list[Any], wanted: Iterable[Key], undivided_by: int = 1
    ) -> Key | None:
        """The first wanted tensor that these are computed of, and not divided by the replicas."""
        constants, pending, visited = Constants(self._tf, 0), list(tensors), set[Key]()
        while pending and len(visited) < MOST_FOLLOWED:
            tensor = pending.pop(0)
            key = key_of(tensor)
            if key in wanted:
                return key
            if key in visited:
                continue
            visited.add(key)
            given = list(tensor.op.inputs)
            if undivided_by > 1 and tensor.op.type in _SCALES:
                factors = [constants.of(each) for each in given]
                if undivided_by in factors or 1 / undivided_by in factors:
                    continue
            # Of its shape only: a clip by the norm of what was reduced takes a number from it.
            pending.extend(each for each in given if each.shape.rank and each.shape == tensor.shape)
        return None

    def _tensors(self, value: object) -> list[Any]:
        flat = (getattr(each, "values", each) for each in self._tf.nest.flatten(value))
        return [each for each in flat if hasattr(each, "op")]


def _by_optimizer() -> bool:
    """Whether Keras was called by the innermost line of user code."""
    for frame in user_lines.frames():
        if user_lines.of_frame(frame) is not None:
            return False
        if str(frame.f_globals.get("__name__", "")).startswith(_KERAS):
            return True
    return False


def key_of(tensor: Any) -> Key:
    """A tensor of a graph, for as long as that lives."""
    return id(tensor.graph), tensor.name
