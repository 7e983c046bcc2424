"""Watches gradients being taken and applied: which step trains, and which variables."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tpudiag.model import Location
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Tensor


@dataclass(frozen=True, kw_only=True)
class GradientCall:
    """A gradient taken while a step was traced, on the first replica."""

    graph: Graph
    target: Tensor
    sources: tuple[object, ...]
    forward_operations: int
    """Operations in the graph when the gradient was requested: the forward pass."""
    location: Location | None
    gradients: tuple[object, ...] = ()
    """The gradients of the sources, without those that are None."""
    in_strategy: bool = True
    """Whether it was traced on a replica of the job's strategy, so for the TPU."""


class GradientWatch:
    """Hooks GradientTape.gradient and ReplicaContext.all_reduce."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self.calls: list[GradientCall] = []
        self.eager_location: Location | None = None
        self.eager_calls = 0
        self.taken = 0
        """Gradients taken so far, traced or eagerly, on any replica."""
        self.reduced_by_mean = False
        self.after_eager_step: Callable[[], None] = lambda: None
        self._to_apply = False
        """Whether a gradient was taken eagerly, and none applied since."""
        self._applied_at: Location | None = None
        self.on_traced_gradient: Callable[[], None] = lambda: None
        self.on_first_replica: Callable[[GradientCall], None] = lambda _: None
        """Called when replica 0 has traced the forward pass, before the others trace anything."""
        hooks.around(table.GRADIENT_TAKEN, self._take)
        hooks.before(table.ALL_REDUCED, self._all_reduce)

    def _take(
        self,
        original: Call,
        tape: object,
        target: object,
        sources: object,
        *args: object,
        **kwargs: object,
    ) -> object:
        call = self._seen(target, sources)
        if call is not None:
            hooks.quietly(self.on_first_replica, call)
        gradients = original(tape, target, sources, *args, **kwargs)
        if call is not None:
            given = [each for each in self._tf.nest.flatten(gradients) if each is not None]
            self.calls.append(replace(call, gradients=tuple(given)))
        return gradients

    def watch_keras(self, keras: Library) -> None:
        """What applies gradients."""
        hooks.after(table.GRADIENTS_APPLIED, self._applied, keras)

    def _applied(self, *_: object, **__: object) -> None:
        """A line that applies eager gradients again is a step; the first time may be a trial."""
        if self._to_apply and self._tf.executing_eagerly():
            self._to_apply = False
            line, known = user_lines.caller(), self._applied_at
            self._applied_at = known or line
            if line is not None and line == known:
                self.after_eager_step()

    def _all_reduce(
        self, _: object, reduce_op: object, value: object, *__: object, **___: object
    ) -> None:
        # Gradients come as a list; a single tensor is a loss or metric.
        if "MEAN" in str(reduce_op).upper() and isinstance(value, (list, tuple)):
            self.reduced_by_mean = True

    def _seen(self, target: object, sources: object) -> GradientCall | None:
        flat = self._tf.nest.flatten(target)
        if not any(map(self._tf.is_tensor, flat)):  # of a value that is not there
            return None
        self.taken += 1
        if self._tf.executing_eagerly():
            self.eager_calls += 1
            self._to_apply = True
            self.eager_location = self.eager_location or user_lines.caller()
            return None
        self.on_traced_gradient()
        if not self._on_first_replica():
            return None
        graph = flat[0].graph
        return GradientCall(
            graph=graph,
            target=flat[0],
            sources=tuple(self._tf.nest.flatten(sources)),
            forward_operations=len(graph.get_operations()),
            location=user_lines.caller(),
            in_strategy=self._tf.distribute.has_strategy(),
        )

    def _on_first_replica(self) -> bool:
        """Whether this thread traces replica 0; true outside any replica."""
        context = self._tf.distribute.get_replica_context()
        if context is None:
            return True
        number = self._tf.get_static_value(context.replica_id_in_sync_group)
        return number is None or int(number) == 0
