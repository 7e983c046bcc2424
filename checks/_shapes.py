"""Sets of shapes: recurring ones are compiled once each, growing ones again and again."""

from tpudiag.signals import ArgumentChange, DatasetOp, Pipeline, TracedFunction

FEWEST_CALLS = 6
"""The least calls that show whether shapes recur."""
CALLS_EACH = 2
"""The least mean number of calls per shape for a reasonable set of shapes."""
FEWEST_SHAPES = 3
"""TensorFlow's `reduce_retracing` traces at most twice: from the second shape on it leaves
differing dimensions open, and no further shape is seen. A function of jax.jit leaves none open."""


def recur(function: TracedFunction, *, of_jax: bool = False) -> bool:
    """Whether a function is traced for a few recurring shapes, and no new ones."""
    changes = [change for retrace in function.retraces for change in retrace.changes]
    # An iterator is described by the shapes of its elements.
    if not changes or any(change.kind not in ("shape", "iterator") for change in changes):
        return False
    first_half = all(2 * retrace.call <= function.calls for retrace in function.retraces)
    few = FEWEST_CALLS <= function.calls >= CALLS_EACH * function.traces
    fewest = 2 if of_jax and any(map(of_examples, changes)) else FEWEST_SHAPES
    return first_half and few and function.traces >= fewest


def of_examples(change: ArgumentChange) -> bool:
    """Whether of two shapes, `int32[256, 75]`, more than the first dimension differs."""
    before, after = (text.partition("[")[2].split(",") for text in (change.before, change.after))
    return len(before) == len(after) and before[1:] != after[1:]


def opening(pipeline: Pipeline) -> DatasetOp | None:
    """The batch of unequal examples, or else the first op after which a dimension is unknown."""
    unknown = [op for op in pipeline.ops if op.gives_unknown and op.location is not None]
    # A ragged example is harmless until it is batched: there it can be padded, so that line is the
    # one to change.
    batches = [op for op in unknown if op.batch_size is not None or op.kind == "GroupByWindow"]
    return next(iter(batches or unknown), None)
