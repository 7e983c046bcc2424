"""TPU510."""

from tpudiag.model import Confidence, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of

LIMIT = 0
"""Batch normalisations that train and are called as in inference, by no one's choice."""


@check("TPU510", Severity.WARNING)
def batch_norm_frozen(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The training step calls its model in inference mode.

    ## What it sees
    Batch normalisations of the traced training step that are called in inference mode although the
    step takes gradients for their scale and offset, if the line that calls the model does not
    mention `training`. Layers with `trainable = False`, and calls with `training=False`, are taken
    as intended.

    ## Why it costs
    In a custom loop Keras does not know that it trains: `model(x)` normalises by the moving
    averages, which stay 0 and 1 for ever, and dropout drops nothing. The job runs, but trains a
    different model from the one that was written.

    ## What to do
    ```python
    logits = model(x, training=True)      # in the training step; training=False in evaluation
    ```

    ## Source
    https://keras.io/api/layers/normalization_layers/batch_normalization (the `training` argument)
    """
    frozen = numerics_of(signals).frozen_norms
    seen = Evidence("batch normalisations in inference mode", len(frozen), "layers", int(limit))
    if len(frozen) > limit:
        yield Finding(
            f"the model is called in inference mode while it trains: {len(frozen)} batch "
            f"normalisations, the first {frozen[0].name}, never see the statistics of a batch, "
            "and dropout drops nothing.",
            "logits = model(x, training=True)",
            (seen,),
            frozen[0].location,
            confidence=Confidence.MEDIUM,
        )
    else:
        yield seen
