"""Whether a cross-entropy gets what it takes: scores (logits), or probabilities."""

from collections.abc import Iterator
from itertools import islice

from tpudiag.signals.step_numerics import LossInput
from tpudiag.sources.job.points import Library
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import (
    ADD,
    DIVIDE,
    PASS,
    Constants,
    passed_on,
    source,
)
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_PRODUCTS = ("BatchMatMul", "Conv", "Einsum", "MatMul")
_ENTROPIES = ("SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits")
_MOST = 400
"""Operations that are looked at behind a loss."""
_ALMOST_ONE = 0.99
"""What is cut below one, above this, is meant for a probability: Keras cuts at 1e-7 from it."""


def read(tf: Library, call: GradientCall) -> Iterator[tuple[LossInput | None, Operation]]:
    """Each cross-entropy behind the loss: what does not fit, and the operation that made its input.

    Keras' losses on probabilities take a logarithm of them, cut to (0, 1); the sigmoid's
    cross-entropy is made of log1p(exp(-abs(x))). Keras itself takes the scores of a softmax that
    stands right before its loss, whatever the loss was told.
    """
    constants = Constants(tf, 0)
    behind = graphs.upstream(call.target, lambda each: each.type.startswith(_PRODUCTS))
    for operation in islice(behind, _MOST):
        if operation.type in _ENTROPIES:
            made = source(operation.inputs[0]).op
            if made.type != "Log":  # else of probabilities, which follow
                yield LossInput("softmax", "scores") if made.type == "Softmax" else None, made
        elif operation.type == "Log1p" and operation.inputs[0].op.type == "Exp":
            made = source(operation.inputs[0].op.inputs[0]).op
            made = source(made.inputs[2]).op if made.type.startswith("Select") else made
            yield LossInput("sigmoid", "scores") if made.type == "Sigmoid" else None, made
        elif (
            operation.type == "Log" and (cut := _uncut(constants, operation.inputs[0])) is not None
        ):
            made = source(cut).op
            yield LossInput("none", "probabilities") if _is_linear(made) else None, made


def _uncut(constants: Constants, tensor: Tensor) -> Tensor | None:
    """What was cut to (0, 1), after a division by its sum; None of anything else."""
    operation, below_one = tensor.op, False
    while operation.type in ("ClipByValue", "Maximum", "Minimum", *ADD, *DIVIDE, *PASS):
        bounds = [] if operation.type in ("Maximum", *PASS) else list(operation.inputs)[1:]
        value = constants.of(bounds[-1]) if bounds else None
        below_one |= value is not None and _ALMOST_ONE < value < 1
        tensor = passed_on(operation)
        operation = tensor.op
    return tensor if below_one else None


def _is_linear(operation: Operation) -> bool:
    """Whether it is a layer's output without an activation, or with one that has no upper end."""
    kinds = [operation.type, *(each.op.type for each in operation.inputs)]
    summed = operation.type in ADD and any(kind.startswith(_PRODUCTS) for kind in kinds)
    return summed or operation.type in ("BiasAdd", "Relu") or operation.type.startswith(_PRODUCTS)
