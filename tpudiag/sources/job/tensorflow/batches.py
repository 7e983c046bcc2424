"""The batch of a training step, from what reached the replicas or else from how it was made."""

from __future__ import annotations

from collections.abc import Iterable

from tpudiag.model import Location
from tpudiag.signals import Batch, Pipeline, TensorSeen


def batch_of(
    inputs: Iterable[TensorSeen],
    pipelines: Iterable[Pipeline],
    replicas: int,
    fit_at: Location | None,
) -> Batch | None:
    """The batch that reaches one replica, and so the global one; None where neither tells.

    `fit_at` is the line that gave arrays to Keras, which then made the batches.
    """
    ops = [op for pipeline in pipelines for op in pipeline.ops if op.batch_size and pipeline.trains]
    sizes = [tensor.shape[0] for tensor in inputs if tensor.shape and tensor.shape[0]]
    if sizes:
        per_replica = int(max(set(sizes), key=sizes.count) or 0)
        located = next((op.location for op in ops), None) or fit_at
        # what does not divide is dealt out rounded up: the job's own number is the batch
        dealt = [op.batch_size for op in ops if -(-(op.batch_size or 0) // replicas) == per_replica]
        return Batch(
            dealt[-1] or 0 if dealt else per_replica * replicas, per_replica, replicas, located
        )
    if not ops:
        return None
    size = int(ops[-1].batch_size or 0)
    return Batch(size, size // replicas, replicas, ops[-1].location or fit_at)
