"""How the differentiated loss is scaled: read off the traced graph, whatever the code looked like.

Walks back from the loss to where the batch was reduced and multiplies the constant factors on
the way. A loss whose scale the walk cannot tell gives no fact rather than a guess.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import Batch, LossScale
from tpudiag.sources.job.tensorflow import user_lines
from tpudiag.sources.job.tensorflow.training import GradientCall

_PASS = frozenset(
    ("Identity", "Reshape", "Cast", "Squeeze", "ExpandDims", "EnsureShape", "CheckNumerics",
     "BroadcastTo", "Fill", "Snapshot")
)  # fmt: skip
_ADD = frozenset(("Add", "AddV2", "AddN"))
_DIVIDE = frozenset(("RealDiv", "DivNoNan", "Div"))
_DEPTH = 200


@dataclass
class _Found:
    """The weights that a walk came to, and the line of the first reduction of the batch."""

    weights: list[float | None] = field(default_factory=list[float | None])
    location: Location | None = None

    def add(self, weight: float | None, reduction: Any = None) -> None:
        """One more way from the loss to the examples; None where its weight is not known."""
        self.weights.append(weight)
        if self.location is None and reduction is not None:
            self.location = user_lines.of_frames(reduction.traceback or ())


def scales(
    tf: Any, calls: Iterable[GradientCall], batch: Batch, averaged: bool
) -> tuple[LossScale, ...] | None:
    """The scale of each differentiated loss that could be read; `averaged`: its gradients are."""
    found: list[LossScale] = []
    for call in calls:
        weight = read(tf, call, batch.per_replica_batch)
        if weight is not None:
            location = weight[1] or call.location
            found.append(LossScale(weight[0], batch.replicas, averaged, location))
    return tuple(found) or None


def read(tf: Any, call: GradientCall, replica_batch: int) -> tuple[float, Location | None] | None:
    """Change of the loss when every per-example loss of the replica rises by one, and the line.

    None where no reduction over the per-replica batch was found, or several that differ.
    """
    found = _Found()
    _walk(tf, call.target, 1.0, replica_batch, found, _DEPTH)
    weights = {None if value is None else round(value, 9) for value in found.weights}
    weight = weights.pop() if len(weights) == 1 else None
    return None if weight is None else (weight, found.location)


def _walk(tf: Any, tensor: Any, factor: float, batch: int, found: _Found, depth: int) -> None:
    """Follow one tensor towards the examples; regularisers (no batch below) find nothing."""
    operation = tensor.op
    kind = operation.type
    if depth == 0:
        found.add(None)
    elif kind in ("Sum", "Mean"):
        _reduction(tf, operation, factor, batch, found, depth)
    elif kind in _PASS:
        _walk(tf, operation.inputs[0], factor, batch, found, depth - 1)
    elif kind in _ADD:
        for term in operation.inputs:
            _walk(tf, term, factor, batch, found, depth - 1)
    elif kind == "Neg":
        _walk(tf, operation.inputs[0], factor, batch, found, depth - 1)
    elif kind in _DIVIDE or kind == "Mul":
        _scaled(tf, operation, factor, batch, found, depth)


def _reduction(
    tf: Any, operation: Any, factor: float, batch: int, found: _Found, depth: int
) -> None:
    """A Sum or Mean: the batch is reduced here, or before."""
    value = operation.inputs[0]
    shape = value.shape
    axes = tf.get_static_value(operation.inputs[1])
    if shape.rank is None or axes is None:
        found.add(None)
        return
    reduced: set[int] = {int(axis) % max(shape.rank, 1) for axis in axes.reshape(-1)}
    if 0 in reduced and shape.rank and shape[0] in (batch, None):
        factor *= _inner_divisor(tf, value)
        others = shape[1:].num_elements()
        if operation.type == "Mean":
            found.add(factor, operation)
        else:
            found.add(None if others is None else factor * batch * others, operation)
        return
    _walk(tf, value, factor, batch, found, depth - 1)


def _inner_divisor(tf: Any, value: Any) -> float:
    """The constant by which every example's loss was divided before the batch was reduced.

    A division is scaling; a product is a weight of the author's own and is left out.
    """
    scale = 1.0
    while value.op.type in _DIVIDE or value.op.type in _PASS:
        if value.op.type in _DIVIDE:
            constant = _constant(tf, value.op.inputs[1])
            if not constant:
                return scale
            scale /= constant
        value = value.op.inputs[0]
    return scale


def _scaled(tf: Any, operation: Any, factor: float, batch: int, found: _Found, depth: int) -> None:
    """A product or quotient with a constant."""
    left, right = operation.inputs
    constant = _constant(tf, right)
    other = left
    if constant is None and operation.type == "Mul":
        constant, other = _constant(tf, left), right
    if constant is not None and constant != 0:
        scale = 1 / constant if operation.type in _DIVIDE else constant
        _walk(tf, other, factor * scale, batch, found, depth - 1)
    elif operation.type in _DIVIDE and _weighted_mean(left, right, batch):
        found.add(factor, operation)
    elif _has_batch(tf, left, batch) or _has_batch(tf, right, batch):
        found.add(None)


def _weighted_mean(total: Any, weights: Any, batch: int) -> bool:
    """Whether a sum of weighted losses is divided by the sum of the same replica's weights."""
    sums = _source(total), _source(weights)
    if any(each.op.type != "Sum" for each in sums):
        return False
    losses, weights = (each.op.inputs[0] for each in sums)
    whole = bool(losses.shape.rank) and losses.shape[0] in (batch, None)
    product = _source(losses).op
    return whole and product.type == "Mul" and any(
        _source(operand) is _source(weights) for operand in product.inputs
    )  # fmt: skip


def _source(tensor: Any) -> Any:
    """What a tensor is a copy of, in another shape or dtype."""
    while tensor.op.type in _PASS and tensor.op.inputs:
        tensor = tensor.op.inputs[0]
    return tensor


def _constant(tf: Any, tensor: Any, depth: int = 20) -> float | None:
    """The value of a scalar that depends on shapes and constants alone."""
    value = tf.get_static_value(tensor)
    if value is not None:
        return float(value.reshape(-1)[0]) if value.size == 1 else None
    operation = tensor.op
    if depth == 0 or tensor.shape.num_elements() != 1:
        return None
    if operation.type == "Prod":
        factors = tf.get_static_value(operation.inputs[0])
        return None if factors is None else float(factors.prod())
    if operation.type == "Size":
        count = operation.inputs[0].shape.num_elements()
        return None if count is None else float(count)
    parts = [_constant(tf, item, depth - 1) for item in operation.inputs]
    if operation.type in _PASS:
        return parts[0]
    if len(parts) == 2 and parts[0] is not None and parts[1] is not None:
        if operation.type == "Mul":
            return parts[0] * parts[1]
        if operation.type in _DIVIDE and parts[1]:
            return parts[0] / parts[1]
    return None


def _has_batch(tf: Any, tensor: Any, batch: int) -> bool:
    """Whether a reduction over the batch lies behind a tensor."""
    found = _Found()
    _walk(tf, tensor, 1.0, batch, found, 40)
    return bool(found.weights)
