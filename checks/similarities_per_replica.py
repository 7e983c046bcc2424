from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import need


@check("TPU515", Severity.WARNING)
def similarities_per_replica(signals: Signals) -> Judgement:
    """A contrastive loss compares each example with those of its own replica alone.

    ## What it sees
    Below a softmax of the differentiated loss, a product of two batches of vectors of the network,
    (n, d) by (d, n), with n the examples of one replica (or twice as many: two views of each), and
    nothing that was gathered of the other replicas.

    ## Why it costs
    The other examples of the batch are the negatives of such a loss. On 8 replicas there are an
    eighth of those that the global batch suggests: another, easier task than the same script's on
    one device, that changes with the size of the slice.

    ## What to do
    ```python
    context = tf.distribute.get_replica_context()
    everyone = context.all_gather(candidates, axis=0)  # (global batch, d)
    scores = tf.matmul(queries, everyone, transpose_b=True)
    labels += context.replica_id_in_sync_group * tf.shape(queries)[0]
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/distribute/ReplicaContext#all_gather
    """
    numerics = numerics_of(signals)
    need(numerics.loss_followed or None, "what is compared in the loss")
    batch = need(signals.batch, "the batch of the step", "rehearse the job")
    found = numerics.similarities
    if found is not None and not found.rows:
        raise NotMeasured(
            "examples are compared with each other, and the traced batch is open",
            "batch with drop_remainder=True, and rehearse the job",
        )
    rows = batch.per_replica_batch
    apart = found is not None and batch.replicas > 1 and found.rows in (rows, 2 * rows)
    if found is not None and apart and found.rows != batch.global_batch:
        yield Finding(
            f"Each example is compared with the {found.rows} of its own replica, not with those "
            f"of all {batch.replicas}.",
            "context = tf.distribute.get_replica_context()\n"
            "everyone = context.all_gather(candidates, axis=0)\n"
            "scores = tf.matmul(queries, everyone, transpose_b=True)\n"
            "labels += context.replica_id_in_sync_group * tf.shape(queries)[0]",
            (
                Evidence("compared with", found.rows, "vectors"),
                Evidence("replicas", batch.replicas, "replicas", 1),
            ),
            found.location,
        )
    yield Evidence("comparisons within a replica", int(apart), "losses", 0)
