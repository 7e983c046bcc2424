"""Terms of a differentiated loss that depend on variables alone, and their constant factors."""

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import isclose

from tpudiag.model import Location
from tpudiag.signals import UnusedRegularizer
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor, Variable
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import Constants, products
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_REDUCES = frozenset(("Sum", "Mean", "Maximum", "Minimum"))
_SUMS = frozenset(("Sum", "Mean", "L2Loss"))
_DEPTH, _FACTORS = 200, 8


@dataclass(frozen=True)
class Penalty:
    """One such term, or a part of the loss that may hold one."""

    factors: tuple[float, ...] = ()
    known: bool = True
    """Whether it is one, and all that multiplies it is constant."""
    location: Location | None = None

    def divided_by(self, replicas: int) -> bool:
        """Whether its factors may hold a division by the replicas."""
        if len(self.factors) > _FACTORS:
            return True  # not to be told
        # 0.01 / 8 may be one factor: of 0.00125 eight times are the rounder number.
        return any(
            isclose(each, 1 / replicas, rel_tol=1e-3) or _digits(each * replicas) < _digits(each)
            for each in products(self.factors)[1:]
        )


def undivided(tf: Library, call: GradientCall, replicas: int) -> Location | None:
    """The line that adds penalties which each of the replicas adds whole; None if in doubt."""
    found = list(penalties(Constants(tf, 0), call.target))
    if not all(each.known and not each.divided_by(replicas) for each in found):
        return None
    return next((each.location for each in found if each.location is not None), None)


def penalties(
    constants: Constants, tensor: Tensor, depth: int = _DEPTH, way: Penalty | None = None
) -> Iterator[Penalty]:
    """The penalties in a loss; where it cannot be followed, one that is not known."""
    operation, way = tensor.op, way or Penalty()
    of_batch = graphs.depends_on_input(tensor) or graphs.is_drawn(tensor)
    if depth == 0 or (of_batch and operation.type in graphs.CALLS | {"Placeholder"}):
        yield replace(way, known=False)
    elif operation.type in graphs.PASS and operation.inputs:
        yield from penalties(constants, graphs.passed_on(operation), depth - 1, way)
    elif operation.type in graphs.ADD | {"Pack"}:
        for part in operation.inputs:
            yield from penalties(constants, part, depth - 1, way)
    else:
        parts = list(_scaled(constants, operation, way, of_batch))
        for part, there in parts:
            yield from penalties(constants, part, depth - 1, there)
        if not parts and not of_batch and graphs.reads_variable(tensor):
            inside = constants.inside(operation.inputs[0]) if operation.type in _REDUCES else ()
            line = user_lines.of_operation(operation)
            known = way.known and operation.type in _SUMS
            yield Penalty((*way.factors, *inside), known, line)


def _scaled(
    constants: Constants, operation: Operation, way: Penalty, of_batch: bool
) -> Iterator[tuple[Tensor, Penalty]]:
    """The parts of a product, quotient or reduction that are one number, or a list of such."""
    kind = operation.type
    if kind not in _REDUCES | graphs.DIVIDE and kind != "Mul":
        return
    for number, part in enumerate(operation.inputs):
        if kind in _REDUCES:
            several = part.op.type == "Pack"
            way_on = replace(way, known=way.known and kind == "Sum") if several else way
            if several or (of_batch and not part.shape.rank):
                yield part, way_on
        elif not part.shape.rank and constants.of(part) is None:
            other = constants.of(operation.inputs[1 - number])
            if other and not (kind in graphs.DIVIDE and number):
                factor = abs(1 / other if kind in graphs.DIVIDE else other)
                yield part, replace(way, factors=(*way.factors, factor))
            elif of_batch:
                yield part, replace(way, known=False)


def _digits(value: float) -> int:
    return len(f"{value:.5e}".partition("e")[0].rstrip("0"))


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
        if not found or [*penalties(Constants(self._tf, 0), call.target)]:
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
