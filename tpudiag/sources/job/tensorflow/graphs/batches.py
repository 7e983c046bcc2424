"""The batch of a training step, from what reached the replicas or how it was made."""

from collections.abc import Iterable

from tpudiag.model import Location
from tpudiag.signals import Batch, Pipeline, TensorSeen

KERAS_BATCH = 32
"""Keras' default batch_size."""


def batch_of(
    inputs: Iterable[TensorSeen],
    pipelines: Iterable[Pipeline],
    replicas: int,
    fit_at: Location | None,
    fit_batch: int | None = None,
) -> Batch | None:
    """The batch of one replica, and so the global one; None where neither is known.

    `fit_at` is the line that passed arrays to Keras, which made batches of `fit_batch` from them.
    """
    feeding = [pipeline for pipeline in pipelines if pipeline.trains]
    ops = [op for pipeline in feeding for op in pipeline.ops if op.batch_size]
    sizes = [tensor.shape[0] for tensor in inputs if tensor.shape and tensor.shape[0]]
    if sizes:
        per_replica = int(max(set(sizes), key=sizes.count) or 0)
        located = next((op.location for op in ops), None) or fit_at
        # an uneven batch is distributed rounded up: use the job's own number
        dealt = [op.batch_size for op in ops if -(-(op.batch_size or 0) // replicas) == per_replica]
        return Batch(
            dealt[-1] or 0 if dealt else per_replica * replicas, per_replica, replicas, located
        )
    size = int(ops[-1].batch_size or 0) if ops else fit_batch
    if not size:
        return None
    located = (ops[-1].location if ops else None) or fit_at
    batched = [pipeline for pipeline in feeding if any(op.batch_size for op in pipeline.ops)]
    if batched and batched[-1].per_replica:
        return Batch(size * replicas, size, replicas, located)
    return Batch(size, size // replicas or 1, replicas, located)


def batch_of_arrays(data: object, batch_size: object) -> int | None:
    """Keras' batch for arrays passed to fit; None for data in batches.

    Keras leaves their first dimension open, since the last batch may be smaller.
    """
    if isinstance(batch_size, int) and batch_size > 0:
        return batch_size
    arrays = isinstance(data, list | tuple | dict) or hasattr(data, "shape")
    return KERAS_BATCH if arrays else None
