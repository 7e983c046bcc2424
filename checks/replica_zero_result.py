from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import LossScale, ReplicaRead, Signals

from ._loop import loop_of

NEAR = 0.05
"""How near the scale of a loss must be to 1 / replicas to be called scaled by the global batch."""


@check("TPU507", Severity.WARNING)
def replica_zero_result(signals: Signals) -> Judgement:
    """The reported loss or metric is not that of the global batch.

    ## What it sees
    `strategy.experimental_local_results(x)[0]` of a result that differs from replica to replica;
    `strategy.reduce(MEAN, loss)` of the very loss that is scaled by the global batch; as
    information, `strategy.reduce(SUM, x)` of what each replica took the mean of.

    ## Why it costs
    Replica 0 reports an eighth of the batch, with its noise; early stopping, checkpoints of the
    best model and schedules decide by it. The mean of losses that are parts of a sum is eight times
    too small, and no run on another number of replicas is comparable.

    ## What to do
    ```python
    loss = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_loss, axis=None)   # scaled loss
    accuracy = metric.result()    # a Keras metric made in the scope sums over the replicas itself
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/custom_training#training_loop
    """
    loop = loop_of(signals)
    for read in loop.replica_reads:
        if read.kind == "first":
            yield _first(read)
        # Without a known scale the mean may be right: of losses that are averaged over each
        # replica's own batch it is.
        elif read.kind == "sum" or _scaled(signals.loss):
            yield _reduced(read)
    yield Evidence("reads of one replica's result", len(loop.replica_reads), "lines")
    yield Evidence("calls that trained", loop.dispatches, "calls")


def _scaled(losses: tuple[LossScale, ...] | None) -> bool:
    """Whether the loss of a replica is its part of the global batch's."""
    return any(
        not loss.gradients_averaged and abs(loss.weight * loss.replicas - 1) <= NEAR
        for loss in losses or ()
    )


def _first(read: ReplicaRead) -> Finding:
    return Finding(
        f"the result of replica 0 is taken for that of all {read.replicas}: {read.taken:.4g}, "
        f"where the mean is {read.mean:.4g}.",
        "strategy.reduce(tf.distribute.ReduceOp.SUM, value, axis=None)   # a loss scaled by the "
        "global batch\nstrategy.reduce(tf.distribute.ReduceOp.MEAN, value, axis=None)  # a mean "
        "of each replica's own",
        (
            Evidence("replica 0", round(read.taken or 0.0, 6)),
            Evidence("mean of the replicas", round(read.mean or 0.0, 6)),
            Evidence("replicas", read.replicas, "replicas"),
        ),
        read.location,
    )


def _reduced(read: ReplicaRead) -> Finding:
    """The mean of what is to be summed, or the sum of what is to be averaged."""
    is_sum = read.kind == "sum"
    by, right = ("SUM", "MEAN") if is_sum else ("MEAN", "SUM")
    return Finding(
        f"each of {read.replicas} replicas takes the mean of its examples, and these means are "
        f"summed: what is told is {read.replicas} times too large, unless it is divided later."
        if is_sum
        else f"the loss is scaled by the global batch and then averaged over {read.replicas} "
        f"replicas: what is told is {read.replicas} times too small.",
        f"strategy.reduce(tf.distribute.ReduceOp.{right}, per_replica_loss, axis=None)",
        (Evidence("reduced by", by, limit=right), Evidence("replicas", read.replicas, "replicas")),
        read.location,
        severity=Severity.INFO if is_sum else None,
    )
