"""Watches batch normalisations that a training step runs in inference mode.

A model called without `training=True` in a custom loop neither uses the batch's statistics nor
updates its averages, although gradients flow through it.
"""

from dataclasses import dataclass
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.step_numerics import FrozenNorm
from tpudiag.sources.job.points import Library, hooks, privates, script_text, table, user_lines
from tpudiag.sources.job.points.library_objects import Graph
from tpudiag.sources.job.tensorflow.watches.training import GradientCall


@dataclass
class _Use:
    """A batch normalisation in one graph, which is kept so that its id is not reused."""

    graph: Graph
    layer: Any
    location: Location | None
    trains: bool
    chosen: bool
    """Whether the outer call sets `training`."""


class NormModeWatch:
    """Hooks calls of Keras' batch normalisation during tracing."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._uses: dict[tuple[int, int], _Use] = {}

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.before(table.NORMALISED, self._called, keras)

    def facts(self, call: GradientCall) -> tuple[FrozenNorm, ...]:
        """Those with gradients in a step, but in inference mode by nobody's choice."""
        sources = {id(_plain(source)) for source in call.sources}
        return tuple(
            FrozenNorm(str(use.layer.name), use.location)
            for use in self._uses.values()
            if use.graph is call.graph
            and not (use.trains or use.chosen)
            and bool(use.layer.trainable)
            and any(id(_plain(getattr(use.layer, n, None))) in sources for n in ("gamma", "beta"))
        )

    def _called(self, layer: object, *args: object, **kwargs: object) -> None:
        if self._tf.executing_eagerly():
            return
        training = kwargs.get("training", args[1] if len(args) > 1 else None)
        graph = self._tf.compat.v1.get_default_graph()
        # Keras also passes a symbolic tensor (learning phase), decided when the graph runs: count
        # it as training, to be on the safe side.
        trains = bool(training) if isinstance(training, (bool, int, type(None))) else True
        key = id(graph), id(layer)
        known = self._uses.get(key)
        if known is not None:
            known.trains |= trains
            return
        location = None if trains else _model_call()
        # `training=False` on the call is a decision: only a missing argument is of interest.
        chosen = location is None or "training" in script_text.call_at(location)
        self._uses[key] = _Use(graph, layer, location, trains, chosen)


def _model_call() -> Location | None:
    location = None
    for outer in reversed([*user_lines.frames()]):
        location = user_lines.of_frame(outer) or location
        module = str(outer.f_globals.get("__name__", ""))
        of_keras = module.partition(".")[0] in ("keras", "tf_keras")
        if outer.f_code.co_name == "__call__" and of_keras and "layer" in module:
            return location
    return None


def _plain(variable: object) -> object:
    return privates.VALUE.of(variable, variable)
