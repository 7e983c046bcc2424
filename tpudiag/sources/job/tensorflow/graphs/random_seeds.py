"""Detects random draws with equal seeds on all replicas, from the seeds' inputs."""

import re
from collections.abc import Iterator

from tpudiag.signals.step_numerics import SameDraws
from tpudiag.sources.job.points import Library, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Operation, Tensor
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.watches.training import GradientCall

_DRAWS = ("StatelessRandom", "StatelessTruncated")
_SEEDS = ("StatelessRandomGetKeyCounter", "StatelessRandomGetAlg", "StatelessRandomGetKey")
_OWN = ("Iterator", "OptionalGet", "MultiDeviceIterator", "Rng", "Stateful", "Random")
"""Operations with different values per replica and time: data, and random states."""
_REPLICA = re.compile(r"(?:^|(?<=/))replica_([1-9]\d*)/")
"""The scope of another replica, which stands in that of a loop or branch around the step."""
_DEPTH = 200
Inputs = dict[str, tuple[Tensor, Tensor]]
"""For a function called by both replicas: its placeholders' values on each."""


def is_draw(operation: Operation) -> bool:
    """Whether an operation draws with a given seed."""
    kind: str = operation.type
    return kind.startswith(_DRAWS) and not kind.startswith(_SEEDS)


def same_draws(tf: Library, call: GradientCall) -> Iterator[SameDraws]:
    """Draws at the user's own lines, in the forward pass, with at least a number per example."""
    replicas, twins = _replicas(call.graph)
    for operation in call.graph.get_operations():
        other = twins.get(operation.name)
        if other is None:
            continue
        if is_draw(operation):
            pairs: list[tuple[Operation, Operation, Inputs]] = [(operation, other, {})]
        elif operation.type in graphs.BODIES:
            pairs = [
                (inner, inner, _inputs(body, operation, other))
                for body in graphs.bodies(call.graph, operation)
                for inner in body.get_operations()
                if is_draw(inner)
            ]
        else:
            continue
        for one, two, inputs in pairs:
            where = user_lines.of_operation(one, own=True)
            shape = one.outputs[0].shape
            if where is None or not shape.rank or None in shape.as_list():
                continue
            # The first input is the shape, which may be that of the replica's own data.
            seeds = list(zip(one.inputs, two.inputs, strict=False))[1:]
            if all(_same(tf, a, b, inputs, _DEPTH) for a, b in seeds):
                yield SameDraws(
                    kind="replicas",
                    shape=tuple(size or 0 for size in shape.as_list()),
                    copies=replicas,
                    location=where,
                    each_step=all(
                        each.inputs or each.type == "Const"
                        for seed, _ in seeds
                        for each in graphs.upstream(seed)
                    ),
                )


def _replicas(graph: Graph) -> tuple[int, dict[str, Operation]]:
    """How many are traced into a graph; replica 1's operations by their names in the first."""
    count, twins = 1, dict[str, Operation]()
    for operation in graph.get_operations():
        scope = _REPLICA.search(operation.name)
        if scope is not None:
            number = int(scope[1])
            count = max(count, number + 1)
            if number == 1:
                twins[_REPLICA.sub("", operation.name, count=1)] = operation
    return count, twins


def _inputs(body: Graph, operation: Operation, other: Operation) -> Inputs:
    given = zip(body.inputs, operation.inputs, other.inputs, strict=False)
    return {inner.op.name: (one, two) for inner, one, two in given}


def _same(tf: Library, one: Tensor, two: Tensor, inputs: Inputs, depth: int) -> bool:
    if depth == 0 or one.op.type != two.op.type or one.op.type.startswith(_OWN):
        return False
    if one.op.type == "Placeholder":
        if one.op.name in inputs:
            return _same(tf, *inputs[one.op.name], {}, depth - 1)
        # A captured variable is its part on the replica, which mirrors the others.
        return one is two or one.dtype.base_dtype.name == "resource"
    if one is two and not inputs:
        return True
    if one.op.type == "Const":
        values = tf.get_static_value(one), tf.get_static_value(two)
        return values[0] is not None and bool((values[0] == values[1]).all())
    pairs = zip(one.op.inputs, two.op.inputs, strict=False)
    return all(_same(tf, a, b, inputs, depth - 1) for a, b in pairs)
