from tpudiag.model import Confidence, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import need


@check("TPU506", Severity.INFO)
def gradients_clipped_per_replica(signals: Signals) -> Judgement:
    """Gradients are clipped on each replica before they are summed.

    ## What it sees
    Calls of tf.clip_by_global_norm, clip_by_norm and clip_by_value in a replica while the step is
    traced, on gradients as the tape returned them.

    ## Why it costs
    Each replica clips its own part by its own norm, and the parts are summed afterwards. With a
    loss scaled by the global batch a part is about an eighth of the gradient, so a limit of 1.0
    acts as one of about 8, and acts differently on another number of replicas. A replica with an
    outlier changes the direction of the sum.

    ## What to do
    ```python
    context = tf.distribute.get_replica_context()
    gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)
    gradients, _ = tf.clip_by_global_norm(gradients, 1.0)
    replicas = context.num_replicas_in_sync            # apply_gradients sums once more
    optimizer.apply_gradients(zip([g / replicas for g in gradients], variables))
    ```

    ## Source
    https://www.tensorflow.org/api_docs/python/tf/distribute/ReplicaContext#all_reduce
    """
    numerics = numerics_of(signals)
    need(numerics.gradients_seen or None, "what became of the gradients", "rehearse the job")
    for each in numerics.clipped:
        yield Finding(
            f"{each.call} clips the gradients of one replica, and {each.replicas} of them are "
            "summed afterwards: the limit is not that of the gradient that is applied.",
            "context = tf.distribute.get_replica_context()\n"
            "gradients = context.all_reduce(tf.distribute.ReduceOp.SUM, gradients)\n"
            f"gradients = ...  # {each.call} now; apply_gradients sums once more, so then:\n"
            "gradients = [g / context.num_replicas_in_sync for g in gradients]",
            (
                Evidence("clipped before the sum by", each.call),
                Evidence("replicas", each.replicas, "replicas"),
            ),
            each.location,
            confidence=Confidence.LOW,  # common, and often meant: told to those who ask for all
        )
    yield Evidence("calls that clip before the sum", len(numerics.clipped), "calls")
