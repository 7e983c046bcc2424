"""The CPU cost of a traced function: its products, times how often each runs."""

from collections.abc import Iterable
from math import prod

from tpudiag.sources.job.points import Library
from tpudiag.sources.job.points.library_objects import Graph, Operation
from tpudiag.sources.job.tensorflow.graphs import matrix_products

SLOWER = 40.0
"""How much slower than float32 a 16-bit convolution is on CPUs without instructions for it
(measured with its gradient, TensorFlow 2.21)."""
_LOOPS = ("While", "StatelessWhile")


def replica_flops(tf: Library, graph: Graph, replica_batch: int | None) -> float:
    """The FLOPs of one replica's forward products, with loop iterations."""
    total = 0.0
    for operation, within, flops in matrix_products.flops(graph, replica_batch):
        if "gradient_tape/" not in operation.name:
            half = operation.type.startswith("Conv") and "16" in operation.inputs[0].dtype.name
            total += flops * turns(tf, within) * (SLOWER if half else 1.0)
    return total


def turns(tf: Library, within: Iterable[Operation]) -> int:
    """How often what stands in these calls runs: a recurrence once per time step.

    A loop may be in a called function, as that of a recurrent layer of Keras 2, or in another loop,
    whose iterations multiply.
    """
    return prod(_turns(tf, each) for each in within if each.type in _LOOPS)


def _turns(tf: Library, loop: Operation) -> int:
    """A loop's iterations: its declared maximum, else the length of what it iterates; 1 if unknown.

    `tf.while_loop` counts in its first argument, up to its second where there is one.
    """
    most = tf.get_static_value(loop.inputs[1]) if len(loop.inputs) > 1 else None
    if most is not None and most.ndim == 0 and most > 0:
        return int(most)
    stacks = [each.op.inputs[0] for each in loop.inputs if each.op.type == "TensorListFromTensor"]
    return max((each.shape[0] or 1 for each in stacks if each.shape.rank), default=1)
