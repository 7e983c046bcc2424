"""Watches where gradients are taken and applied: what is a training step, and what it trains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tpudiag.model import Location
from tpudiag.sources.job.tensorflow import hooks, user_lines


@dataclass(frozen=True)
class GradientCall:
    """A gradient taken while a step was traced, on the first replica."""

    graph: Any
    target: Any
    sources: tuple[Any, ...]
    forward_operations: int
    """Operations in the graph when the gradient was asked for: the forward pass."""
    location: Location | None


class GradientWatch:
    """Hooks GradientTape.gradient and ReplicaContext.all_reduce."""

    def __init__(self, tf: Any) -> None:
        self._tf = tf
        self.calls: list[GradientCall] = []
        self.eager_location: Location | None = None
        self.eager_calls = 0
        self.taken = 0
        """Gradients taken so far, traced or eagerly, on any replica."""
        self.reduced_by_mean = False
        self.on_traced_gradient: Callable[[], None] = lambda: None
        self._install()

    def _install(self) -> None:
        """Wrap the public methods."""
        watch = self

        def gradient(_: Any, target: Any, sources: Any, *__: Any, **___: Any) -> None:
            watch._seen(target, sources)

        def all_reduce(_: Any, reduce_op: Any, value: Any, *__: Any, **___: Any) -> None:
            if "MEAN" in str(reduce_op).upper() and isinstance(value, (list, tuple)):
                watch.reduced_by_mean = True

        hooks.before(self._tf.GradientTape, "gradient", gradient)
        hooks.before(self._tf.distribute.ReplicaContext, "all_reduce", all_reduce)

    def _seen(self, target: Any, sources: Any) -> None:
        """Keep what is needed to look at the step's graph later."""
        self.taken += 1
        if self._tf.executing_eagerly():
            self.eager_calls += 1
            self.eager_location = self.eager_location or user_lines.caller()
            return
        self.on_traced_gradient()
        flat = self._tf.nest.flatten(target)
        if not flat or not self._on_first_replica():
            return
        graph = flat[0].graph
        self.calls.append(
            GradientCall(
                graph, flat[0], tuple(self._tf.nest.flatten(sources)),
                len(graph.get_operations()), user_lines.caller(),
            )
        )  # fmt: skip

    def _on_first_replica(self) -> bool:
        """Whether this thread traces replica 0; true outside any replica."""
        context = self._tf.distribute.get_replica_context()
        if context is None:
            return True
        number = self._tf.get_static_value(context.replica_id_in_sync_group)
        return number is None or int(number) == 0
