"""The CPU cost of a traced function: its products, times how often each runs."""

from tpudiag.sources.job.points import Library
from tpudiag.sources.job.points.library_objects import Graph, Operation
from tpudiag.sources.job.tensorflow.graphs import graphs, matrix_products

SLOWER = 40.0
"""How much slower than float32 a 16-bit convolution is on CPUs without instructions for it
(measured with its gradient, TensorFlow 2.21)."""
_LOOPS = ("While", "StatelessWhile")


def replica_flops(tf: Library, graph: Graph, replica_batch: int | None) -> float:
    """The FLOPs of one replica's forward products, with loop iterations."""
    turns, total = turns_of_loops(tf, graph), 0.0
    for operation, flops in matrix_products.flops(graph, replica_batch):
        if "gradient_tape/" not in operation.name:
            half = operation.type.startswith("Conv") and "16" in operation.inputs[0].dtype.name
            total += flops * turns.get(operation.name, 1) * (SLOWER if half else 1.0)
    return total


def turns_of_loops(tf: Library, graph: Graph, turns: int = 1, depth: int = 0) -> dict[str, int]:
    """How often operations inside loops run, by name: a recurrence runs once per time step.

    A loop may be in a called function, as that of a recurrent layer of Keras 2, or in another loop,
    whose iterations multiply.
    """
    inside: dict[str, int] = {}
    for operation in graph.get_operations():
        if not graphs.first_replica(operation):
            continue
        if turns > 1:
            inside[operation.name] = turns
        if operation.type in graphs.BODIES and depth < graphs.DEEPEST:
            inner = turns * (_turns(tf, operation) if operation.type in _LOOPS else 1)
            for body in graphs.bodies(graph, operation):
                for name, often in turns_of_loops(tf, body, inner, depth + 1).items():
                    inside[name] = max(often, inside.get(name, 1))
    return inside


def _turns(tf: Library, loop: Operation) -> int:
    """A loop's iterations: its declared maximum, else the length of what it iterates; 1 if unknown.

    `tf.while_loop` counts in its first argument, up to its second where there is one.
    """
    most = tf.get_static_value(loop.inputs[1]) if len(loop.inputs) > 1 else None
    if most is not None and most.ndim == 0 and most > 0:
        return int(most)
    stacks = [each.op.inputs[0] for each in loop.inputs if each.op.type == "TensorListFromTensor"]
    return max((each.shape[0] or 1 for each in stacks if each.shape.rank), default=1)
