"""TPU401."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import MatrixOp, Signals

from ._need import need, of_a_job

LIMIT = 128
"""The multiple of the per-replica batch that fills the lanes of a tile."""
SOFT_LIMIT = 8
"""The multiple that is enough where every feature dimension is a multiple of 128."""


@check("TPU401", Severity.WARNING)
def batch_multiple(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """The global batch is not a multiple of 128 x replicas.

    ## What it sees
    The per-replica batch that reaches the traced step, the replicas of the target, and the
    feature dimensions of the step's matrix products. It is a note only where the softer of the
    two documented rules holds: 8 per replica, and features in multiples of 128.

    ## Why it costs
    Tiles are 8 x 128. XLA pads batch and features up to them: the padding is computed and stored.

    ## What to do
    ```python
    global_batch = 128 * strategy.num_replicas_in_sync
    ```

    ## Source
    Cloud TPU performance guide (1,024 for 8 cores with features in multiples of 8, or 64 with
    features in multiples of 128); openxla/xla tiled_layout.md
    """
    of_a_job(signals, "the batch of the step")
    batch = need(signals.batch, "a batch at a training step")
    multiple = int(limit) * batch.replicas
    evidence = (
        Evidence("global batch", batch.global_batch, "examples", f"n x {multiple}"),
        Evidence("replicas", batch.replicas, "replicas"),
        Evidence("per-replica batch", batch.per_replica_batch, "examples", f"n x {int(limit)}"),
    )
    if batch.global_batch % multiple == 0:
        yield from evidence
        return
    features = hidden_dimensions(signals.matrix_ops or ())
    odd = sorted({size for size in features if size % 128})
    soft = batch.per_replica_batch % SOFT_LIMIT == 0 and bool(features) and not odd
    better = max(multiple, round(batch.global_batch / multiple) * multiple)
    yield Finding(
        f"a global batch of {batch.global_batch} is {batch.per_replica_batch} a replica"
        + (
            ": enough, since all features are multiples of 128; 128 a replica fills every tile."
            if soft
            else f", no multiple of {int(limit)}: the rest of each tile is padding."
        ),
        f"global_batch = {better}  # {better // multiple * int(limit)} x {batch.replicas} replicas",
        (*evidence, Evidence("features off 128", ", ".join(map(str, odd[:5])) or "none")),
        batch.location,
        severity=Severity.INFO if soft else Severity.WARNING,
    )


def hidden_dimensions(ops: tuple[MatrixOp, ...]) -> set[int]:
    """Feature dimensions that the model's author chose: no example's width, no class count.

    They are the ones that one forward product makes and another consumes.
    """
    forward = [op for op in ops if op.forward]
    return {op.columns for op in forward} & {op.contraction for op in forward}
