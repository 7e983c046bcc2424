from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Framework,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import by_model

LIMIT = 0
"""Batch normalisations that train and are called as in inference, by no one's choice."""


@check("TPU510", Severity.WARNING, frameworks=BOTH)
def batch_norm_frozen(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The training step calls its model in inference mode, or loses its statistics.

    ## What it sees
    Batch normalisations of the traced training step that are called in inference mode although the
    step takes gradients for their scale and offset, if the line that calls the model does not
    mention `training`. Layers with `trainable = False`, and calls with `training=False`, are taken
    as intended. In JAX: variances among the step's arguments, the same before each call, by which
    it normalises what a trained scale multiplies, unless the call names a mode; and running
    averages that the traced step computes and nothing reads.

    ## Why it costs
    In a custom loop Keras does not know that it trains: `model(x)` normalises by the moving
    averages, which stay 0 and 1 for ever, and dropout drops nothing. The job runs, but trains a
    different model from the one that was written. Where the step throws the new averages away,
    training looks well, and evaluation normalises by those of the start.

    ## What to do
    ```python
    logits = model(x, training=True)      # in the training step; training=False in evaluation
    state = state.replace(batch_stats=updates["batch_stats"])  # flax: of mutable=["batch_stats"]
    ```

    ## Source
    https://keras.io/api/layers/normalization_layers/batch_normalization (the `training` argument)
    """
    numerics = numerics_of(signals)
    frozen = numerics.frozen_norms
    of_jax = signals.framework is Framework.JAX
    if of_jax and not numerics.state_compared:
        raise NotMeasured("the state was not seen before several calls", "rehearse the job")
    lost = bool(frozen) and frozen[0].statistics_lost
    what = "running averages thrown away" if lost else "batch normalisations in inference mode"
    seen = Evidence(what, len(frozen), "arrays" if lost else "layers", int(limit))
    if len(frozen) > limit and lost:
        yield Finding(
            f"the step computes new running averages of {len(frozen)} arrays, the first "
            f"{frozen[0].name}, and throws them away: evaluation uses what they were at the start.",
            "return them with the state: flax `updates` of mutable=['batch_stats'], Keras the "
            "non_trainable_variables that stateless_call returns",
            (seen,),
            frozen[0].location,
        )
    elif len(frozen) > limit:
        yield Finding(
            f"the model is called in inference mode while it trains: {len(frozen)} batch "
            f"normalisations, the first {frozen[0].name}, never see the statistics of a batch, "
            "and dropout drops nothing.",
            by_model(
                signals,
                "logits = model(x, training=True)",
                "model.train()  # flax nnx; linen: of train=True, mutable=['batch_stats']",
            ),
            (seen,),
            frozen[0].location,
            confidence=Confidence.MEDIUM,
        )
    else:
        yield seen
