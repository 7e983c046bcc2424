"""Reads the traced training step: its operations, its inputs, its activations."""

import contextlib
import re
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from tpudiag.signals import ActivationEstimate, StepConstant, StepOp, StepOps, TensorSeen
from tpudiag.sources.job.points import privates, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Operation, Tensor
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_OTHER_REPLICA = re.compile(r"(^|/)replica_[1-9]\d*(/|$)")
_OTHER_DEVICE = re.compile(r"device:CPU:[1-9]\d*$")
BODIES: dict[str, tuple[str, ...]] = {
    "PartitionedCall": ("f",),
    "StatefulPartitionedCall": ("f",),
    **dict.fromkeys(("If", "StatelessIf"), ("then_branch", "else_branch")),
    **dict.fromkeys(("While", "StatelessWhile"), ("cond", "body")),
    **dict.fromkeys(("Case", "StatelessCase"), ("branches",)),
}
"""The attributes that name the functions called by an operation."""
DEEPEST = 8
"""The depth to which nested functions are followed."""
_HOST_CALLS = frozenset(("PyFunc", "PyFuncStateless", "EagerPyFunc", "PrintV2", "Print"))
_NO_KERNEL = frozenset(
    ("UnravelIndex", "DecodeJpeg", "DecodePng", "DecodeImage", "DecodeRaw", "ReadFile",
     "WriteFile", "ParseExampleV2", "ParseSingleExample", "LookupTableFindV2",
     "LookupTableInsertV2", "LookupTableSizeV2")
)  # fmt: skip
"""Operations without a TPU kernel: tensorflow#101181, tensorflow#126007; XLA knows no tables."""
_SIZED_BY_DATA = frozenset(
    ("Where", "Unique", "UniqueV2", "UniqueWithCounts", "UniqueWithCountsV2", "DynamicPartition",
     "ListDiff")
)  # fmt: skip
"""Operations whose result size depends on data (tf.boolean_mask contains a Where)."""
_MESSAGES = frozenset(("Assert", "StringFormat", "Identity", "Placeholder", *_HOST_CALLS, *BODIES))
_SAME_BUFFER = frozenset(
    ("Identity", "IdentityN", "Reshape", "ExpandDims", "Squeeze", "StopGradient", "PreventGradient",
     "Snapshot", "EnsureShape", "CheckNumerics")
)  # fmt: skip
_BY_ELEMENT = frozenset(
    ("Abs", "Add", "AddN", "AddV2", "BiasAdd", "BroadcastTo", "Cast", "Div", "DivNoNan",
     "Elu", "Equal", "Erf", "Exp", "Expm1", "FloorDiv", "Greater", "GreaterEqual",
     "IsFinite", "IsNan", "LeakyRelu", "Less", "LessEqual", "Log", "Log1p", "LogicalAnd",
     "LogicalNot", "LogicalOr", "Maximum", "Minimum", "Mul", "MulNoNan", "Neg", "NotEqual",
     "OnesLike", "Pow", "RealDiv", "Reciprocal", "Relu", "Relu6", "Round", "Rsqrt",
     "Select", "SelectV2", "Selu", "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt",
     "Square", "SquaredDifference", "Sub", "Tanh", "ZerosLike")
)  # fmt: skip
"""Operations that the compiler fuses into their readers."""
_PRODUCTS = ("MatMul", "BatchMatMul", "Einsum", "Conv")
_NO_ACTIVATION = frozenset(
    ("Const", "ReadVariableOp", "VarHandleOp", "Shape", "ShapeN", "Size", "Rank", "Placeholder",
     "NoOp")
)  # fmt: skip
PASS = frozenset(
    ("Identity", "Reshape", "Cast", "Squeeze", "ExpandDims", "EnsureShape", "CheckNumerics",
     "BroadcastTo", "Fill", "Snapshot", "StopGradient", "PreventGradient")
)  # fmt: skip
"""Operations that pass on the values of one input: see `passed_on`."""
ADD = frozenset(("Add", "AddV2", "AddN", "Sub"))
DIVIDE = frozenset(("RealDiv", "DivNoNan", "Div"))
CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_NO_DATA = frozenset(("Const", "VarHandleOp", "ReadVariableOp", "Shape", "Size", "Rank", "NoOp"))
_DRAWS = ("Random", "TruncatedNormal", "StatelessRandom", "StatelessTruncated")
LARGE_CONSTANT = 2**20
"""Bytes from which on a constant is recorded."""


def first_replica(operation: Operation) -> bool:
    """Whether an operation of an unrolled step belongs to replica 0 (or to none)."""
    return not (_OTHER_REPLICA.search(operation.name) or _OTHER_DEVICE.search(operation.device))


def operations(
    graph: Graph, within: tuple[Operation, ...] = ()
) -> Iterator[tuple[Operation, tuple[Operation, ...]]]:
    """The operations of one replica, each with the calls that it stands in, outermost first.

    Those of called functions, branches and loops are included, a loop's once.
    """
    for operation in filter(first_replica, graph.get_operations()):
        yield operation, within
        if operation.type in BODIES and len(within) < DEEPEST:
            for body in bodies(graph, operation):
                yield from operations(body, (*within, operation))


def upstream(
    tensor: Tensor, ends: Callable[[Operation], bool] = lambda _: False
) -> Iterator[Operation]:
    """The operations that a tensor is computed of, the nearest first, each once.

    Those that are `ends` are left out, and all behind them.
    """
    pending, visited = deque([tensor.op]), set[int]()
    while pending:
        operation = pending.popleft()
        if id(operation) not in visited and not ends(operation):
            visited.add(id(operation))
            yield operation
            pending.extend(each.op for each in operation.inputs)


def reads_variable(tensor: Tensor) -> bool:
    """Whether it is computed of a variable with dimensions."""
    return any(
        each.type == "ReadVariableOp" and each.outputs[0].shape.rank for each in upstream(tensor)
    )


def depends_on_input(tensor: Tensor) -> bool:
    """Whether a tensor depends on the step's input, not on variables alone.

    An argument of the step and an iterator's element count as input; variables do not.
    """
    return any(map(_is_input, upstream(tensor, lambda each: each.type in _NO_DATA)))


def is_drawn(tensor: Tensor) -> bool:
    """Whether a tensor depends on random numbers: the examples of a generator are."""
    found = upstream(tensor, lambda each: each.type in _NO_DATA)
    return any(each.type.startswith(_DRAWS) for each in found)


def _is_input(operation: Operation) -> bool:
    if operation.type == "Placeholder":
        # A captured variable is a placeholder of its handle (resource), an iterator one of a
        # variant: neither is data itself.
        return operation.outputs[0].dtype.base_dtype.name not in ("resource", "variant")
    kind: str = operation.type
    return kind.startswith(("Iterator", "OptionalGet", "MultiDeviceIterator"))


def passed_on(operation: Operation) -> Tensor:
    """The input whose values an operation of PASS passes on: the first one is a shape in Fill."""
    return operation.inputs[1 if operation.type == "Fill" else 0]


def source(tensor: Tensor) -> Tensor:
    """The tensor whose values operations of PASS pass on as this one's."""
    while tensor.op.type in PASS and tensor.op.inputs:
        tensor = passed_on(tensor.op)
    return tensor


def bodies(graph: Graph, operation: Operation) -> Iterator[Graph]:
    """The graphs of the functions that an operation calls; unavailable ones are skipped."""
    for attribute in BODIES[operation.type]:
        with contextlib.suppress(AttributeError, KeyError, ValueError):
            named = operation.get_attr(attribute)
            for function in named if attribute == "branches" else [named]:
                yield privates.GRAPH_FUNCTION.of(graph)(function.name).graph


def is_constant(operation: Operation) -> bool:
    """Whether it, and what it is made of, is known as the graph is built: a mask of constants.

    What draws at random has state, whatever constants it is given.
    """
    inputs = [] if operation.op_def.is_stateful else [each.op for each in operation.inputs]
    return operation.type == "Const" or (bool(inputs) and all(map(is_constant, inputs)))


def step_ops(call: GradientCall) -> StepOps:
    """The step's operations that call the host, have no TPU kernel, or an open size."""
    total = 0
    ops: list[StepOp] = []
    sized: list[StepOp] = []
    constants: list[StepConstant] = []
    for operation, _ in operations(call.graph):
        total += 1
        calls_host = operation.type in _HOST_CALLS
        strings = any(each.dtype.base_dtype.name == "string" for each in operation.inputs)
        of_strings = strings and operation.type not in _MESSAGES
        if calls_host or operation.type in _NO_KERNEL or of_strings:
            where = user_lines.of_operation(operation)
            ops.append(StepOp(operation.type, operation.name, calls_host, where))
        elif operation.type in _SIZED_BY_DATA:
            where = user_lines.of_operation(operation, own=True)
            if where is not None and not is_constant(operation):
                sized.append(StepOp(operation.type, operation.name, False, where))
        elif operation.type == "Const":
            constants.extend(_large_constant(operation))
    constants.sort(key=lambda constant: -constant.bytes)
    # Only TensorFlow's internal setting tells `set_soft_device_placement(True)` from the default.
    context = privates.EAGER_CONTEXT.get()
    soft = context is not None and privates.SOFT_PLACEMENT.of(context(), None) is True
    return StepOps(total, tuple(ops), tuple(sized), tuple(constants), soft)


def merged_ops(steps: Sequence[StepOps]) -> StepOps:
    """Those of the first step, and additional ones of other loops at other lines."""
    first, *later = steps
    found = _added(first.found, [op for step in later for op in step.found])
    sized = _added(first.sized_by_data, [op for step in later for op in step.sized_by_data])
    return replace(first, found=found, sized_by_data=sized)


def _added(ops: tuple[StepOp, ...], more: list[StepOp]) -> tuple[StepOp, ...]:
    known = {(op.kind, op.location) for op in ops}
    added = {(op.kind, op.location): op for op in more}
    return (*ops, *(op for place, op in added.items() if place not in known))


def _large_constant(operation: Operation) -> Iterator[StepConstant]:
    """A constant of many bytes; one value that fills a shape takes none."""
    tensor = operation.outputs[0]
    size = (tensor.shape.num_elements() or 0) * tensor.dtype.base_dtype.size
    if size >= LARGE_CONSTANT:
        # tf.zeros of a gigabyte is one value and a shape in the graph; only the attribute's own
        # content goes into the program.
        held = int(operation.get_attr("value").ByteSize())
        if held >= LARGE_CONSTANT:
            where = user_lines.of_operation(operation)
            shape = tuple(size or 0 for size in tensor.shape.as_list())
            yield StepConstant(operation.name, held, shape, where)


def activations(call: GradientCall) -> ActivationEstimate:
    """An estimate of what one replica's forward pass keeps for the backward pass.

    Counts the outputs of forward operations that backward operations read, each buffer once,
    where anything depends on these: a tape also goes back through layers that are frozen,
    without variables, constants and shapes. For elementwise results their source is kept instead,
    since the compiler fuses them into their readers, unless a matrix product or convolution reads
    them.
    """
    all_operations = call.graph.get_operations()
    forward = {id(op) for op in all_operations[: call.forward_operations]}
    kept: dict[int, tuple[str, int]] = {}
    unknown: set[int] = set()
    followed: set[int] = set()
    backward = all_operations[call.forward_operations :]
    of_use = _needed(call.graph, backward)
    for operation in backward:
        if not first_replica(operation) or id(operation) not in of_use:
            continue
        for tensor in operation.inputs:
            if id(tensor.op) not in forward or tensor.dtype.base_dtype.name == "resource":
                continue
            # A product reads its whole operand from memory; anything else is fused with the
            # operand's producer, and recomputes it from its source.
            for source in _kept(tensor, followed, whole=operation.type.startswith(_PRODUCTS)):
                count = source.shape.num_elements() if source.shape.rank is not None else None
                if count is None:
                    unknown.add(id(source))
                else:
                    kept[id(source)] = (source.op.name, count * source.dtype.base_dtype.size)
    ordered = sorted(kept.values(), key=lambda item: -item[1])
    return ActivationEstimate(sum(size for _, size in ordered), tuple(ordered[:5]), len(unknown))


def _needed(graph: Graph, backward: list[Operation]) -> set[int]:
    """What of a backward pass an update or a result of the graph depends on; all where none is."""
    ends = [each for each in backward if each.op_def.is_stateful]
    ends += [tensor.op for tensor in graph.outputs]
    needed, own = {id(end) for end in ends}, {id(each) for each in backward}
    for tensor in (tensor for end in ends for tensor in end.inputs):
        needed.update([id(each) for each in upstream(tensor, lambda op: id(op) in needed)])
    return needed if needed & own else own


def _kept(tensor: Tensor, followed: set[int], *, whole: bool) -> Iterator[Tensor]:
    """The tensors needed in memory to read this one: itself where it must be whole."""
    pending = [tensor]
    while pending:
        source = pending.pop()
        while source.op.type in _SAME_BUFFER and len(source.op.inputs) > source.value_index:
            source = source.op.inputs[source.value_index if source.op.type == "IdentityN" else 0]
        if not whole:
            if id(source) in followed:
                continue
            followed.add(id(source))
        if source.op.type in _BY_ELEMENT and not whole:
            pending.extend(source.op.inputs)
        # Outputs 3 and up of FusedBatchNorm are scratch for cuDNN; the TPU compiler has none.
        elif not (
            source.op.type in _NO_ACTIVATION
            or (source.op.type.startswith("FusedBatchNorm") and source.value_index > 2)
        ):
            yield source


def step_inputs(call: GradientCall) -> tuple[TensorSeen, ...]:
    """The tensors fed to the step on one replica: its graph's inputs without resources."""
    return tuple(
        TensorSeen(
            tensor.op.name, tensor.dtype.base_dtype.name,
            None if tensor.shape.rank is None else tuple(tensor.shape.as_list()),
        )
        for tensor in call.graph.inputs
        if tensor.dtype.base_dtype.name not in ("resource", "variant") and first_replica(tensor.op)
    )  # fmt: skip
