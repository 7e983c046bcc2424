"""Makes a layer's variables before its first call inside a replica that is being traced.

A TPU supports making variables there; CPU replicas fail with "You must feed a value for placeholder
tensor", which is no fault of the script. The layer is called once on symbols with the first
replica's shapes, outside the replicas and in the strategy's scope.
"""

from typing import Any

from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import Args, Kwargs, Library, barrier, hooks, interventions
from tpudiag.sources.job.points.library_objects import Strategy


class LayerBuilder:
    """Examines each call of a Keras 3 layer."""

    def __init__(self, tf: Library, keras: Library) -> None:
        self._tf, self._keras = tf, keras
        self._building = False

    def before_call(self, layer: Any, *args: object, **kwargs: object) -> None:
        """Build an unbuilt layer called in a replica; all replicas meet here."""
        tf = self._tf
        if layer.built or self._building or tf.executing_eagerly():
            return
        if not interventions.allowed(InterventionKind.EARLY):
            return
        context = tf.distribute.get_replica_context()
        if context is None or not tf.distribute.has_strategy():
            return
        # A functional model under construction calls its layers on symbols, which builds them.
        if any(isinstance(leaf, self._keras.KerasTensor) for leaf in tf.nest.flatten(args)):
            return
        symbols = tf.nest.map_structure(self._symbol, (args, dict(kwargs)))

        def build(strategy: Strategy) -> None:
            barrier.attempt("Layer.__call__ build", self._build, strategy, layer, *symbols)

        # Replicas trace side by side on threads of their own and meet in merge_call: there the
        # variables are made once, mirrored, while the others wait.
        context.merge_call(build)

    def _build(self, strategy: Strategy, layer: Any, args: Args, kwargs: Kwargs) -> None:
        """Build once for all replicas; a layer that accepts no symbols stays unbuilt."""
        if layer.built:
            return
        interventions.note(InterventionKind.EARLY)
        # init_scope leaves the graph being traced: a variable made inside it would be local to one
        # replica's graph.
        with hooks.instead(self, _building=True), self._tf.init_scope(), strategy.scope():
            layer(*args, **kwargs)

    def _symbol(self, value: Any) -> object:
        if not self._tf.is_tensor(value) or not hasattr(value, "shape"):
            return value
        return self._keras.KerasTensor(tuple(value.shape), value.dtype.name)
