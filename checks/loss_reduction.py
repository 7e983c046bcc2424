from tpudiag.model import BOTH, Evidence, Finding, Judgement, Location, NotMeasured, Severity, check
from tpudiag.signals import LossScale, Signals

from ._need import by_framework, need, of_a_job
from .wrong_batching import each_gets_all

LIMIT = 0.01
"""How far the loss's scale may be from 1 / replicas, as a share of it."""
_COMPARE = "compare the loss of 1 and of 8 replicas on the same data"
_OF_TENSORFLOW = (
    "loss = tf.nn.compute_average_loss(per_example_loss, global_batch_size=global_batch)\n"
    "# with a loss object: reduction=None (Keras 3) or Reduction.NONE"
)
_OF_KERAS = (
    "return outputs[:, None]  # of the model: predictions of (batch, 1). Of (batch,) Keras makes\n"
    "# one loss for the whole batch, and divides only those of each example by the replicas"
)
_AGAIN = "# leave one of the two divisions out: this line, where the mean is the global batch's"
_AGAIN_IN_JAX = "# leave this division out: jax.lax.pmean of the gradients divides by the devices"
_OF_A_RATIO = "loss = loss / strategy.num_replicas_in_sync"
_OF_JAX = (
    "gradients = jax.lax.pmean(gradients, axis)  # in place of psum: jax.pmap, check_vma=False\n"
    "# jax.shard_map with check_vma, which is its default, has summed them already:\n"
    "loss = jax.lax.pmean(loss, axis)  # within the function that is differentiated, and no more"
)
TOLERANCE = 1e-3
"""How far a weight may be from 1, or from the batch, to be a mean or a sum."""


@check("TPU502", Severity.ERROR, frameworks=BOTH)
def loss_reduction(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The per-replica loss is not scaled by the global batch.

    ## What it sees
    In the traced step: the change of the differentiated loss when every per-example loss of one
    replica rises by one. Gradients are summed over replicas, so it must be 1 / replicas; if they
    are averaged, 1. Each term of a loss is followed separately, and the constants on its way are
    distinguished: the scaling, and the author's own weights. If a factor on the way is no constant
    (a learned weight), nothing is reported. In JAX the same within jax.pmap and jax.shard_map,
    which with check_vma sums gradients automatically. Also gradients that the job reduces itself
    and that apply_gradients sums once more, unless they are divided in between; and where a loss is
    scaled as it must be, terms of the variables alone (regularisers) that each replica adds whole.

    ## Why it costs
    No error, a wrong model: the update is too large by the number of replicas (a mean over the
    replica's batch). A plain sum grows with the global batch, as it does on one device.

    ## What to do
    ```python
    per_example = loss_fn(labels, logits)                       # reduction=None
    loss = tf.nn.compute_average_loss(per_example, global_batch_size=global_batch)
    ...
    total = strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_loss, axis=None)
    loss, gradients = jax.value_and_grad(lambda p: jax.lax.pmean(mean_loss(p), "data"))(params)
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/custom_training; tensorflow#28956;
    https://docs.jax.dev/en/latest/notebooks/shard_map.html
    """
    of_a_job(signals, "how the loss is scaled")
    scales = need(
        signals.loss,
        "a loss whose reduction over the batch can be read off the traced step",
        _COMPARE,
    )
    batch = need(signals.batch, "the batch of the step").per_replica_batch
    twice = signals.numerics.summed_twice if signals.numerics is not None else None
    handed = signals.loop is not None and signals.loop.undistributed is not None
    for scale in scales:
        wanted = 1.0 if scale.gradients_averaged else 1 / scale.replicas
        weight = round(scale.weight, 6)
        evidence = Evidence("loss per unit of example loss", weight, "", round(wanted, 6))
        if scale.penalty and scale.replicas > 1:
            yield _whole_penalty(signals, scale, evidence)
        elif twice is not None and abs(scale.weight * scale.replicas - wanted) <= limit * wanted:
            yield evidence
        elif twice is not None and abs(scale.weight - wanted) <= limit * wanted:
            yield _summed_twice(twice, scale, evidence)
        elif abs(scale.weight - wanted) <= limit * wanted:
            yield evidence
        elif signals.precision is not None and signals.precision.loss_scale_optimizer is not None:
            raise NotMeasured(
                f"the loss is multiplied by {signals.precision.loss_scale_optimizer}, too",
                "take the loss scaling out (TPU404)",
            )
        elif abs(scale.weight - 1) < TOLERANCE and (handed or each_gets_all(signals, batch)):
            raise NotMeasured(
                f"each replica gets all {batch:,} examples that the loss is divided by",
                "give each replica its part of the global batch (TPU205, TPU505), then check again",
            )
        elif scale.values_summed > 1:
            yield _of_values(scale, evidence)
        elif not scale.linear or _telling(scale, wanted, batch, limit):
            yield _finding(signals, scale, wanted, evidence)
        else:
            raise NotMeasured(
                f"the loss has a weight of its own: {scale.weight:.6g} per unit of example loss",
                _COMPARE,
            )


def _whole_penalty(signals: Signals, scale: LossScale, evidence: Evidence) -> Finding:
    """Regularisers that are not divided by the replicas, as the loss is."""
    return Finding(
        f"each of {scale.replicas} replicas adds terms of the variables alone whole, and their "
        f"gradients are summed: the regularisation is {scale.replicas} times as strong as on one "
        "device.",
        by_framework(
            signals,
            "loss += tf.nn.scale_regularization_loss(model.losses)",
            "loss += penalty / jax.lax.psum(1, axis)",
        ),
        (evidence, Evidence("replicas", scale.replicas, "replicas")),
        scale.location,
        severity=Severity.WARNING,
    )


def _summed_twice(line: Location, scale: LossScale, evidence: Evidence) -> Finding:
    return Finding(
        "the gradients are reduced over the replicas here, and apply_gradients sums the results of "
        f"{scale.replicas} replicas once more: each update is {scale.replicas} times too large.",
        "# leave out the all_reduce, for apply_gradients sums; where it is needed (to clip):\n"
        "gradients = [g / strategy.num_replicas_in_sync for g in gradients]  # then apply them",
        (evidence, Evidence("replicas", scale.replicas, "replicas")),
        line,
    )


def _telling(scale: LossScale, wanted: float, batch: int, limit: float) -> bool:
    """Whether the error is one that a forgotten or doubled division makes, and no weighting."""
    factor = scale.weight / wanted
    replicas = scale.replicas
    # 0.4 for an auxiliary head, say, is none of them: that weight is the author's own.
    mistakes = (replicas, batch, batch * replicas, replicas**2)
    return any(abs(factor / m - 1) <= limit or abs(factor * m - 1) <= limit for m in mistakes)


def _of_values(scale: LossScale, evidence: Evidence) -> Finding:
    """Losses of pixels or tokens, given to what takes one loss for each example."""
    return Finding(
        f"tf.nn.compute_average_loss gets {scale.values_summed:,} losses of each example and "
        "divides their sum by the global batch alone: the loss and its gradients are so many times "
        "the mean.",
        "per_example = tf.reduce_mean(per_pixel, axis=list(range(1, per_pixel.shape.rank)))\n"
        "loss = tf.nn.compute_average_loss(per_example, global_batch_size=global_batch)",
        (evidence, Evidence("losses of an example", scale.values_summed, "losses", 1)),
        scale.location,
    )


def _finding(signals: Signals, scale: LossScale, wanted: float, evidence: Evidence) -> Finding:
    batch = signals.batch.per_replica_batch if signals.batch is not None else 1
    keras = signals.keras
    fit = keras is not None and keras.loop == "fit" and scale.location is None
    of_tensorflow = _OF_KERAS if fit else _OF_TENSORFLOW if scale.linear else _OF_A_RATIO
    fixes = of_tensorflow, _OF_JAX
    if _divided_again(scale, wanted):
        fixes = _AGAIN, _AGAIN_IN_JAX
    is_sum = scale.linear and batch > 1 and abs(scale.weight / batch - 1) < TOLERANCE
    return Finding(
        f"{_what(scale, wanted, is_sum)}, and gradients are "
        f"{'averaged' if scale.gradients_averaged else 'summed'} over {scale.replicas} replicas.",
        by_framework(signals, *fixes),
        (evidence, Evidence("replicas", scale.replicas, "replicas")),
        keras.fit_at if fit and keras is not None else scale.location,
        # A plain sum is wrong in the same way on one device: somebody may have tuned the learning
        # rate to it.
        severity=Severity.WARNING if is_sum else None,
    )


def _divided_again(scale: LossScale, wanted: float) -> bool:
    return abs(scale.weight * scale.replicas / wanted - 1) < TOLERANCE


def _what(scale: LossScale, wanted: float, is_sum: bool) -> str:
    if not scale.linear:
        return "nothing between the loss and the replica's batch divides it by the replicas"
    if is_sum:
        return "the loss is a sum that nothing divides by the batch: it grows with the global batch"
    if _divided_again(scale, wanted):
        slip = "it is divided by the replicas twice"
    elif abs(scale.weight - 1) < TOLERANCE:
        slip = "it is averaged over the replica's batch, not over the global one"
    else:
        slip = "it is not divided by the global batch"
    return f"the loss is {scale.weight / wanted:.6g} times what it should be: {slip}"
