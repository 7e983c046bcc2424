"""Watches batch normalisations and dropouts that are called in the wrong mode.

A model called without `training=True` in a custom loop neither uses the batch's statistics nor
updates its averages, although gradients flow through it; an evaluation with it does both.
"""

from dataclasses import dataclass
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.step_numerics import FrozenNorm
from tpudiag.signals.training_loop import TrainedInEvaluation
from tpudiag.sources.job.points import Library, hooks, privates, script_text, table, user_lines
from tpudiag.sources.job.points.library_objects import Graph
from tpudiag.sources.job.tensorflow.watches.training import GradientCall


@dataclass
class _Use:
    """A layer in one graph, which is kept so that its id is not reused."""

    graph: Graph
    layer: Any
    location: Location | None
    trains: bool
    chosen: bool
    """Whether the outer call sets `training`."""
    told: bool
    """Whether it was told itself to train, by a plain True."""


class NormModeWatch:
    """Hooks calls of Keras' batch normalisation and dropout during tracing."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._uses: dict[tuple[int, int], _Use] = {}
        self._traced: list[_Use] = []
        """Since the last function was traced."""
        self._trained = set[int]()
        """Layers of functions that train."""
        self._evaluated: list[_Use] | None = None
        """Of functions that evaluate; None where none was seen."""

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.before(table.LAYER_MODES, self._called, keras)

    def traced(self, trains: bool, evaluates: bool) -> None:
        """A function was traced, and whether it took gradients or updated metrics."""
        if trains:
            self._trained |= {id(use.layer) for use in self._traced}
        elif evaluates:
            self._evaluated = [*(self._evaluated or ()), *self._traced]
        self._traced = []

    def in_evaluation(self) -> TrainedInEvaluation | None:
        """Layers of the training step that a function of metrics alone calls in training mode.

        None where no such function was seen.
        """
        if self._evaluated is None:
            return None
        wrong = {
            id(use.layer): use
            for use in self._evaluated
            if use.told and use.layer.trainable and id(use.layer) in self._trained
        }
        norms = [use for use in wrong.values() if hasattr(use.layer, "moving_mean")]
        at = next((use.location for use in norms or wrong.values()), None)
        return TrainedInEvaluation(norms=len(norms), dropouts=len(wrong) - len(norms), location=at)

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
        location = _model_call()
        # `training=False` on the call is a decision: only a missing argument is of interest.
        chosen = location is None or "training" in script_text.call_at(location)
        self._uses[key] = _Use(graph, layer, location, trains, chosen, training is True)
        self._traced.append(self._uses[key])


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
