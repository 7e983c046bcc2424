"""The scaling of the differentiated loss, read from the traced graph, whatever the code's form.

Walks back from the loss to each reduction of the batch, and collects the constants on the way.
Where one of them, or a product of some, scales by the global batch, the rest are the author's own
weights; where none can, the scaling is missing. A path with an unknown factor (a variable, an
argument, a sum over replicas) gives no fact.
"""

import linecache
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import Batch, LossScale
from tpudiag.sources.job.points import Library, user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import Constants, products
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_CURVES = frozenset(
    ("Abs", "Elu", "Exp", "Expm1", "Log", "Log1p", "Maximum", "Minimum", "Pow", "Reciprocal",
     "Relu", "Rsqrt", "Sigmoid", "Softplus", "Sqrt", "Square", "SquaredDifference", "Tanh")
)  # fmt: skip
"""Functions that make a loss from a reduced one, but no multiple of it."""
_AVERAGES = "compute_average_loss"
_DEPTH = 200
_MOST_CONSTANTS = 10
_TOLERANCE = 1e-3


@dataclass(frozen=True, kw_only=True)
class Term:
    """One path from the loss to the replica's examples."""

    base: float
    """Change of the reduced value when each example's rises by one: 1 for a mean, n for a sum."""
    per_example: int = 1
    """Values per example in the sum."""
    unmeant: bool = False
    """Whether tf.nn.compute_average_loss summed it, which expects one loss per example."""
    constants: tuple[float, ...] = ()
    inside: int = 0
    """So many of them, the last ones, are within an example's loss."""
    linear: bool = True
    known: bool = True
    """Whether every factor on the path is constant."""
    location: Location | None = None
    named: tuple[tuple[float, Location], ...] = ()
    """Factors whose lines name the replicas, the last one first."""


def scales(
    tf: Library, calls: Sequence[GradientCall], batch: Batch, averaged: bool
) -> tuple[LossScale, ...] | None:
    """The scale of each readable differentiated loss; `averaged`: its gradients are."""
    read_off: dict[tuple[float, Location | None], LossScale] = {}
    # A gradient of the input (for a penalty, an attack) is a part of a loss, and updates nothing.
    of_weights = [call for call in calls if any(hasattr(s, "assign") for s in call.sources)]
    for call in of_weights or calls:
        mean = averaged or _divided_by_hand(tf, call, batch.replicas)
        found = terms(tf, call, batch.per_replica_batch)
        again = [None if mean else divided_again(term, batch.replicas) for term in found]
        for term in found:
            scale = weighed(term, batch, mean, again=again[0] if all(again) else None)
            if scale is not None:
                scale = replace(scale, location=scale.location or call.location)
                read_off.setdefault((scale.weight, scale.location), scale)
    return tuple(read_off.values()) or None


def terms(tf: Library, call: GradientCall, replica_batch: int) -> tuple[Term, ...]:
    """The paths from the loss to the replica's examples."""
    return tuple(_Walk(tf, replica_batch).of(call.target, Term(base=1.0), _DEPTH, whole=True))


def weighed(
    term: Term, batch: Batch, averaged: bool, *, again: Location | None = None
) -> LossScale | None:
    """A term's relation to the global batch, None where the trace does not show it.

    The author's weights of terms are left out of the scale; `again` is the line where all of the
    loss is divided by the replicas a second time.
    """
    wanted = 1.0 if averaged else 1 / batch.replicas
    whole = term.base * prod(term.constants)
    divided = term.base * prod(term.constants[: len(term.constants) - term.inside])
    # An author's weight (0.4 of an auxiliary loss) is among them: at most 2 ** 10 products.
    parts = [term.base * part for part in products(term.constants[:_MOST_CONSTANTS])]
    right = (wanted,) if term.unmeant else (wanted, wanted * term.per_example)
    unmeant = [wanted * term.per_example] if term.unmeant else []
    slips = [wanted * m for n in (batch.replicas, batch.per_replica_batch, batch.global_batch)
             for m in (n, 1 / n) if n > 1]  # fmt: skip
    weight: float | None
    if not term.known:
        weight = None
    elif not term.linear:
        # After a curve (sqrt of a mean) the scale is the reduced value's; the loss's own error is
        # unknown.
        weight = None if not averaged and _near(parts[1:], right) else 1.0
    elif _near([whole], right) or (again is None and not averaged and _near(parts, right)):
        weight = wanted
    # Off by exactly the replicas, the per-replica batch or the global one: nobody chooses such a
    # weight, so it is a mistake. Anything else may be intended.
    elif _near([whole], [*slips, *unmeant]) and not (term.base == 1 and whole > 1):  # of a mean
        weight = whole
    # What an example's loss is made of is its author's; by what the sum is divided, it is told.
    elif term.unmeant and term.per_example == 1 and _near([divided], slips):
        weight = divided
    elif averaged and _near(parts, right):
        weight = wanted
    else:
        # A sum that is divided by something has the author's own normalisation.
        normalised = any(abs(constant) < 1 for constant in term.constants)
        weight = term.base if term.base == 1 or not normalised else None
    if weight is None:
        return None
    values = term.per_example if term.unmeant and weight == whole else 1
    location = again or term.location
    return LossScale(weight, batch.replicas, averaged, location, term.linear, values)


def divided_again(term: Term, replicas: int) -> Location | None:
    """The line that divides a mean over all replicas by them once more, where it names them.

    Other lines may divide by as many steps whose gradients they add up.
    """
    parts = sum(_near([constant], [1 / replicas]) for constant in term.constants)
    lines = [line for factor, line in term.named if _near([factor], [1 / replicas])]
    whole = term.base * prod(term.constants)
    exact = term.known and term.linear and _near([whole], [replicas**-2])
    return lines[0] if exact and lines and len(lines) == parts else None


def _near(values: Iterable[float], targets: Iterable[float]) -> bool:
    """Whether a value equals one of the targets, ignoring its sign."""
    return any(abs(abs(v) / target - 1) <= _TOLERANCE for v in values for target in targets)


class _Walk:
    """Follows one loss to the examples; regularisers (without a batch) give no term."""

    def __init__(self, tf: Library, batch: int) -> None:
        self._batch = batch
        self._constants = Constants(tf, batch)
        self._static = tf.get_static_value
        self._outside: dict[tuple[int, str], Tensor] = {}
        """The outer tensors of called functions' placeholders."""

    def of(self, tensor: Tensor, way: Term, depth: int, *, whole: bool = False) -> Iterator[Term]:
        """The terms behind one tensor."""
        if depth == 0 or not graphs.first_replica(tensor.op):
            yield replace(way, known=False)
        elif whole and tensor.shape.rank and self._holds_batch(tensor):
            yield self._summed(tensor, way, None)
        else:
            operation = tensor.op
            kind = operation.type
            if kind in ("Sum", "Mean"):
                yield from self._reduced(operation, way, depth)
            elif kind in graphs.PASS or kind == "Neg":
                yield from self.of(graphs.passed_on(operation), way, depth - 1)
            elif kind in graphs.ADD or kind in ("Pack", "Select", "SelectV2"):
                for part in operation.inputs[1 if kind.startswith("Select") else 0 :]:
                    yield from self.of(part, way, depth - 1)
            elif kind in graphs.DIVIDE or kind in ("Mul", "MulNoNan"):
                yield from self._scaled(operation, way, depth)
            elif kind in _CURVES:
                for part in operation.inputs:
                    yield from self.of(part, replace(way, linear=False), depth - 1)
            elif kind in graphs.CALLS or kind == "Placeholder":
                yield from self._called(tensor, way, depth)
            elif graphs.depends_on_input(tensor):
                yield replace(way, known=False)

    def _reduced(self, operation: Operation, way: Term, depth: int) -> Iterator[Term]:
        """A Sum or Mean: the batch is reduced here, or earlier."""
        value = operation.inputs[0]
        axes = self._static(operation.inputs[1])
        made = graphs.source(value).op
        if made.type == "Pack":
            share = 1 / len(made.inputs) if operation.type == "Mean" else 1.0
            yield from self.of(value, _times(way, share), depth - 1)
            return
        if value.shape.rank is None or axes is None:
            if graphs.depends_on_input(value):
                yield replace(way, known=False)
            return
        reduced = {int(axis) % max(value.shape.rank, 1) for axis in axes.reshape(-1)}
        if value.shape.rank and 0 in reduced and self._holds_batch(value):
            location = user_lines.of_operation(operation)
            if operation.type == "Sum":
                averages = any(f.name == _AVERAGES for f in operation.traceback or ())
                yield replace(self._summed(value, way, location), unmeant=averages)
            else:
                constants = (*way.constants, *self._constants.inside(value))
                yield replace(way, base=1.0, constants=constants, location=location)
        else:
            yield from self.of(value, way, depth - 1)

    def _holds_batch(self, value: Tensor) -> bool:
        """Whether the first dimension is the batch, or a multiple of it; of a draw, the batch."""
        size = value.shape[0]
        if size is not None and size % self._batch:
            return False
        return graphs.depends_on_input(value) or (
            size in (None, self._batch) and graphs.is_drawn(value)
        )

    def _summed(self, value: Tensor, way: Term, location: Location | None) -> Term:
        count = value.shape.num_elements()
        inside = tuple(self._constants.inside(value))
        constants = (*way.constants, *inside)
        if count is None:
            others = value.shape[1:].num_elements()
            count = None if others is None else others * self._batch
        if count is None:
            return replace(way, known=False)
        each = max(count // self._batch, 1)
        return replace(
            way, base=float(count), per_example=each, constants=constants, inside=len(inside),
            location=location,
        )  # fmt: skip

    def _scaled(self, operation: Operation, way: Term, depth: int) -> Iterator[Term]:
        """A product or quotient: with a constant, an unknown, or of two reductions."""
        factor, other = self._constants.scaled(operation)
        if factor is not None:
            if factor:
                way = _named(_times(way, factor), factor, operation)
                yield from self.of(other, way, depth)
            return
        (left, right), divides = operation.inputs, operation.type in graphs.DIVIDE
        whole = divides and self._constants.of(left) is not None
        sides = [[] if whole else [*self.of(left, Term(base=1.0), 40)]]
        sides.append([*self.of(right, Term(base=1.0), 40)])
        if divides and not whole and self._weighted_mean(left, right):
            yield replace(way, base=1.0, location=user_lines.of_operation(operation))
        elif all(sides) or (divides and sides[1]):
            yield self._mixed(operation, way, [*sides[0], *sides[1]])
        else:
            yield from (replace(term, known=False) for term in [*sides[0], *sides[1]])

    def _mixed(self, operation: Operation, way: Term, parts: list[Term]) -> Term:
        inner = tuple(constant for part in parts for constant in part.constants)
        return Term(
            base=1.0, per_example=1, constants=(*way.constants, *inner), linear=False,
            known=way.known and all(part.known for part in parts),
            location=user_lines.of_operation(operation),
        )  # fmt: skip

    def _weighted_mean(self, total: Tensor, weights: Tensor) -> bool:
        """Whether a sum of weighted losses is divided by the same replica's sum of weights."""
        sums = graphs.source(total), graphs.source(weights)
        if any(each.op.type != "Sum" for each in sums):
            return False
        losses, weights = (each.op.inputs[0] for each in sums)
        whole = bool(losses.shape.rank) and self._holds_batch(losses)
        product = graphs.source(losses).op
        return whole and product.type == "Mul" and any(
            graphs.source(operand) is graphs.source(weights) for operand in product.inputs
        )  # fmt: skip

    def _called(self, tensor: Tensor, way: Term, depth: int) -> Iterator[Term]:
        operation = tensor.op
        if operation.type == "Placeholder":
            outer = self._outside.get((id(operation.graph), operation.name))
            if outer is not None:
                yield from self.of(outer, way, depth - 1)
            return
        body = next(iter(graphs.bodies(operation.graph, operation)), None)
        if body is None or len(body.outputs) <= tensor.value_index:
            yield replace(way, known=False)
            return
        for inner, outer in zip(body.inputs, operation.inputs, strict=False):
            self._outside[id(body), inner.op.name] = outer
        yield from self.of(body.outputs[tensor.value_index], way, depth - 1)


def _times(way: Term, constant: float) -> Term:
    if abs(constant) == 1:
        return way
    return replace(way, constants=(*way.constants, abs(constant)))


def _named(way: Term, factor: float, operation: Operation) -> Term:
    """A path with a factor whose line may name the replicas."""
    line = user_lines.of_operation(operation)
    if line is None or "replica" not in linecache.getline(line.file, line.line or 0).lower():
        return way
    return replace(way, named=(*way.named, (abs(factor), line)))


def _divided_by_hand(tf: Library, call: GradientCall, replicas: int) -> bool:
    """Whether the gradients are divided by the replicas, instead of the loss."""
    constants = Constants(tf, 0)
    for gradient in call.gradients:
        tensor: Any = getattr(gradient, "values", gradient)
        for consumer in tensor.consumers() if hasattr(tensor, "consumers") else ():
            if consumer.type not in graphs.DIVIDE and consumer.type != "Mul":
                continue
            for operand in consumer.inputs:
                constant = None if operand is tensor else constants.of(operand)
                if constant and _near([constant], (replicas, 1 / replicas)):
                    return True
    return False
