"""Regularisers of trained variables that are missing from the differentiated loss."""

import weakref

from tpudiag.model import Location
from tpudiag.signals import UnusedRegularizer
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Variable
from tpudiag.sources.job.tensorflow.graphs import penalties
from tpudiag.sources.job.tensorflow.graphs.constants import Constants
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_STRENGTHS = ("l1", "l2", "factor")


class RegularizerWatch:
    """Hooks layers' weights, and collections of TensorFlow 1, which are empty in 2."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._made: list[tuple[weakref.ref[Variable], object]] = []
        """Variables with a regulariser that is not zero."""
        self._empty: list[Location] = []
        """Lines that requested a collection of regularisation losses, and got nothing."""
        hooks.after(table.TF1_COLLECTION, self._collected, gives=True)

    def watch_keras(self, keras: Library) -> None:
        """Hook a Keras."""
        hooks.after(table.WEIGHT_ADDED, self._added, keras, gives=True)

    def unused(self, call: GradientCall) -> UnusedRegularizer | None:
        """The trained variables with unused regularisers; None where a loss term uses them."""
        trained = set(map(id, call.sources))
        known = [(made(), given) for made, given in self._made]
        found = [(v, given) for v, given in known if v is not None and id(v) in trained]
        if not found or [*penalties.penalties(Constants(self._tf, 0), call.target)]:
            return None
        first, given = found[0]
        return UnusedRegularizer(
            variables=len(found),
            name=f"{getattr(first, 'path', first.name)} ({type(given).__name__})",
            location=self._empty[0] if self._empty else call.location,
            empty_collection=bool(self._empty),
        )

    def _added(self, variable: Variable, *_: object, **named: object) -> None:
        given = named.get("regularizer")
        known = [v for n in _STRENGTHS if (v := getattr(given, n, None)) is not None]
        if given is not None and (not known or any(float(value) for value in known)):
            self._made.append((weakref.ref(variable), given))

    def _collected(self, result: object, key: object = None, *_: object, **named: object) -> None:
        location = user_lines.own_caller()
        if location is not None and not result and "regular" in str(named.get("key", key)):
            self._empty.append(location)
