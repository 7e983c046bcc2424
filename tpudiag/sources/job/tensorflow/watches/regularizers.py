"""Regularisers of trained variables that are missing from the differentiated loss."""

import weakref
from collections.abc import Iterator

from tpudiag.model import Location
from tpudiag.signals import UnusedRegularizer
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Tensor, Variable
from tpudiag.sources.job.tensorflow.graphs.constants import PASS, Constants, passed_on
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_ADDS = frozenset(("Add", "AddV2", "AddN", "Sub", "Pack"))
_SCALES = frozenset(("Mul", "RealDiv", "Div", "DivNoNan", "Sum", "Mean", "Maximum", "Minimum"))
_STRENGTHS = ("l1", "l2", "factor")
_DEPTH = 200


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
        if not found or any(_terms(Constants(self._tf, 0), call.target, _DEPTH)):
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
        """A collection was requested."""
        location = user_lines.own_caller()
        if location is not None and not result and "regular" in str(named.get("key", key)):
            self._empty.append(location)


def _terms(constants: Constants, tensor: Tensor, depth: int) -> Iterator[bool]:
    """For each term of a sum whether it depends on variables only, if unsure True."""
    operation = tensor.op
    if depth == 0:
        yield True  # unknown: report nothing
    elif operation.type in PASS and operation.inputs:
        yield from _terms(constants, passed_on(operation), depth - 1)
    elif operation.type in _ADDS:
        for part in operation.inputs:
            yield from _terms(constants, part, depth - 1)
    elif constants.depends_on_input(tensor):
        if operation.type in _SCALES:
            for part in operation.inputs:
                if not part.shape.rank or part.op.type == "Pack":
                    yield from _terms(constants, part, depth - 1)
        elif operation.type in ("PartitionedCall", "StatefulPartitionedCall", "Placeholder"):
            yield True
    elif operation.type not in ("Const", "Shape", "Size", "Cast"):
        yield _reads_variable(tensor)


def _reads_variable(tensor: Tensor) -> bool:
    """Whether a batch-independent term depends on a variable with dimensions."""
    pending, seen = [tensor.op], set[str]()
    while pending:
        operation = pending.pop()
        if operation.name in seen:
            continue
        seen.add(operation.name)
        if operation.type == "ReadVariableOp" and operation.outputs[0].shape.rank:
            return True
        pending.extend(each.op for each in operation.inputs)
    return False
