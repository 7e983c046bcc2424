"""Detects numerical problems in the traced step, and gradient clipping."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice

from tpudiag.model import Location
from tpudiag.signals.step_numerics import (
    BatchNorm,
    ClippedGradients,
    ExpertRouting,
    LowPrecisionOp,
    MergedNumbers,
    SerialMap,
    StepNumerics,
)
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs, loss_inputs, random_seeds
from tpudiag.sources.job.tensorflow.graphs.matrix_products import turns
from tpudiag.sources.job.tensorflow.watches.training import GradientCall, GradientWatch

LayerLine = Callable[[str], Location | None]
_PRODUCTS = ("MatMul", "BatchMatMul", "Einsum", "Conv", "DepthwiseConv")
_NORMALISES = (
    "Softmax",
    "LogSoftmax",
    "SparseSoftmaxCrossEntropyWithLogits",
    "SoftmaxCrossEntropyWithLogits",
    "Sigmoid",
    "Log",
    "Log1p",
    "Softplus",
)
"""Operations where 8 bits of mantissa lose the loss's precision."""
_HALF = ("bfloat16", "float16")
_MAPS = re.compile(r"(^|/)map(_\d+)?/while(_\d+)?$")
"""The loops of tf.map_fn."""
_GIVEN = frozenset(("Const", "Placeholder", "Identity", "ReadVariableOp", "Cast"))
"""Operations that pass on their input."""
MOST_FOLLOWED = 400
"""The most operations examined behind the loss."""
MOST_EXPERTS = 1024
MOST_NUMBERS = 2**17


def watch_clipping(tf: Library, gradients: GradientWatch) -> dict[object, ClippedGradients]:
    """Hook tf.clip_by_*; gives the gradients that one replica clips before they are summed."""
    clipped: dict[object, ClippedGradients] = {}

    def note(name: str, /, *args: object, **kwargs: object) -> None:
        if not gradients.calls or tf.executing_eagerly():
            return
        given = args[0] if args else kwargs.get("t_list", kwargs.get("t"))
        context = tf.distribute.get_replica_context()
        replicas = 1 if context is None else context.num_replicas_in_sync
        taken = {id(each) for call in gradients.calls for each in call.gradients}
        if replicas > 1 and not taken.isdisjoint(map(id, tf.nest.flatten(given))):
            location = user_lines.caller()
            clipped[name, location] = ClippedGradients(name, replicas, location)

    for each in table.CLIPPED.each():
        hooks.before(each, partial(note, each.name))
    return clipped


def read(
    tf: Library, call: GradientCall, layer_line: LayerLine, clipped: tuple[ClippedGradients, ...]
) -> StepNumerics:
    """The problems in a traced step's forward pass."""
    forward = call.graph.get_operations()[: call.forward_operations]
    # All replicas of a MirroredStrategy are traced into one graph: report each finding once.
    own = [operation for operation in forward if graphs.first_replica(operation)]
    entropies = tuple(loss_inputs.read(tf, call))
    return StepNumerics(
        loss_dtype=call.target.dtype.base_dtype.name,
        low_precision=tuple(_low_precision(call.target, layer_line)),
        merged=tuple(dict.fromkeys(_merged(tf, own, layer_line))),
        clipped=clipped,
        gradients_seen=True,
        batch_norms=tuple(_batch_norms(tf, own, layer_line)),
        routings=tuple(_routings(tf, own, layer_line)),
        serial_maps=tuple(
            SerialMap(turns(tf, [each]), _line(each, layer_line))
            for each in own
            if each.type.endswith("While") and _MAPS.search(each.name)
        ),
        double=tuple(dict.fromkeys(_in_double(own, layer_line))),
        same_draws=tuple(random_seeds.same_draws(tf, call)),
        paired_loss=loss_inputs.paired(call),
        similarities=loss_inputs.similarities(call),
        cross_entropies=len(entropies),
        loss_inputs=tuple(
            dict.fromkeys(
                replace(unfit, location=_line(made, layer_line))
                for unfit, made in entropies
                if unfit is not None
            )
        ),
        loss_followed=True,
        draws=sum(random_seeds.is_draw(operation) for operation in own),
    )


def _merged(
    tf: Library, operations: list[Operation], layer_line: LayerLine
) -> Iterator[MergedNumbers]:
    for operation in operations:
        if operation.type != "Cast" or operation.outputs[0].dtype.base_dtype.name not in _HALF:
            continue
        given, made = operation.inputs[0], operation.outputs[0]
        if (given.shape.num_elements() or MOST_NUMBERS) >= MOST_NUMBERS:
            continue
        before, after = map(tf.get_static_value, (given, made))
        if before is None or after is None or not before.size:
            continue
        numbers, left = ({float(each) for each in v.reshape(-1)} for v in (before, after))
        # One after the other, as positions are; masks and borders may become one.
        in_a_row = max(numbers) - min(numbers) == len(numbers) - 1
        if len(left) < len(numbers) and in_a_row and min(numbers).is_integer():
            half = made.dtype.base_dtype.name
            yield MergedNumbers(half, len(numbers), len(left), _line(operation, layer_line))


def _in_double(operations: list[Operation], layer_line: LayerLine) -> Iterator[Location | None]:
    for operation in operations:
        if operation.type in _GIVEN or not operation.outputs:
            continue
        made = operation.outputs[0]
        if made.dtype.base_dtype.name == "float64" and made.shape.rank != 0:
            yield _line(operation, layer_line)


def _line(operation: Operation, layer_line: LayerLine) -> Location | None:
    return layer_line(operation.name) or user_lines.of_operation(operation)


def _low_precision(target: Tensor, layer_line: LayerLine) -> Iterator[LowPrecisionOp]:
    # Before the last product is the network, which is meant to run in 16 bits.
    for operation in islice(graphs.upstream(target, _is_product), MOST_FOLLOWED):
        half = [t for t in operation.inputs if t.dtype.base_dtype.name in _HALF]
        if half and operation.type in _NORMALISES:
            yield LowPrecisionOp(
                operation.type,
                operation.name,
                half[0].dtype.base_dtype.name,
                _line(operation, layer_line),
            )


def _is_product(operation: Operation) -> bool:
    kind: str = operation.type
    return kind.startswith(_PRODUCTS)


def _batch_norms(
    tf: Library, operations: list[Operation], layer_line: LayerLine
) -> Iterator[BatchNorm]:
    layers: dict[str, BatchNorm] = {}
    for operation in operations:
        if operation.type.startswith("FusedBatchNorm"):
            trains = operation.get_attr("is_training")
        elif operation.type == "Mean" and operation.name.endswith("moments/mean"):
            trains = _over_examples(tf, operation)
        else:
            continue
        if trains:
            scope = operation.name.partition("/moments/")[0].removesuffix("/FusedBatchNormV3")
            size = operation.inputs[0].shape[0] if operation.inputs[0].shape.rank else None
            layers.setdefault(scope, BatchNorm(scope, size, _line(operation, layer_line)))
    # A mean over examples is a batch normalisation where moving averages have the same name.
    moving = [o.name for o in operations if o.type.startswith("Assign")]
    for scope, layer in layers.items():
        if any(name.startswith(f"{scope}/") for name in moving):
            yield layer


def _over_examples(tf: Library, operation: Operation) -> bool:
    """Whether a mean is over the batch, not the channels."""
    axes = tf.get_static_value(operation.inputs[1])
    rank = operation.inputs[0].shape.rank
    if axes is None or rank is None or rank < 2:
        return False
    over = {int(axis) % rank for axis in axes.reshape(-1)}
    return 0 in over and len(over) < rank


def _routings(
    tf: Library, operations: list[Operation], layer_line: LayerLine
) -> Iterator[ExpertRouting]:
    """Top-k choices from which one-hot tensors of experts are made."""
    one_hots = [operation for operation in operations if operation.type == "OneHot"]
    for operation in operations:
        if operation.type not in ("TopKV2", "ArgMax"):
            continue
        shape = operation.inputs[0].shape
        sizes = [size for size in shape.as_list() if size is not None] if shape.rank else []
        if len(sizes) < 2 or len(sizes) != shape.rank:
            continue
        *rows, experts = sizes
        k = _static(tf, operation.inputs[1]) if operation.type == "TopKV2" else 1
        # A top-k over a vocabulary (beam search, sampling) differs only in size, and one that takes
        # all chooses nothing.
        if not k or k >= experts or experts > MOST_EXPERTS:
            continue
        readers = [each for each in one_hots if _reads(each, operation)]
        sends = [
            each
            for each in readers
            if _static(tf, each.inputs[1]) == experts
            and not any(_reads(each, other) for other in readers if other is not each)
        ]
        if not sends:
            continue
        places = [
            _static(tf, each.inputs[1])
            for each in one_hots
            if each not in sends and any(_reads(each, send) for send in sends)
        ]
        yield ExpertRouting(
            name=operation.name,
            tokens=rows[-1],
            chosen=k,
            experts=experts,
            capacity=next((place for place in places if place), None),
            location=_line(operation, layer_line),
        )


def _reads(operation: Operation, source: object) -> bool:
    """Whether an operation's first input comes from another within some steps."""
    behind = graphs.upstream(
        operation.inputs[0], lambda each: each is not source and _is_product(each)
    )
    return any(each is source for each in islice(behind, 60))


def _static(tf: Library, tensor: Tensor) -> int | None:
    value = tf.get_static_value(tensor)
    return int(value) if value is not None and value.size == 1 else None
