from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of
from ._need import by_model, need

LIMIT = 0
"""Layers that an evaluation calls in training mode."""


@check("TPU521", Severity.WARNING, frameworks=BOTH)
def evaluation_in_training_mode(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The evaluation calls its model in training mode.

    ## What it sees
    Batch normalisations and dropouts of the training step that are called with `training=True` in
    a function that updates metrics and takes no gradients. In JAX, dropouts, and running averages
    that learn, of functions that take no gradients and are given the trained model after a step.
    Without batch normalisations it is told as information: dropout in an evaluation may be meant
    (Monte Carlo dropout).

    ## Why it costs
    Dropout drops, and each example is normalised by its batch: the figures are worse than those of
    the model that is saved, and change with the batch. The moving averages learn of the examples
    that were held out.

    ## What to do
    ```python
    logits = model(x, training=False)    # in the evaluation; training=True in the training step
    model.eval()                         # flax nnx; flax linen: deterministic=True
    ```

    ## Source
    https://keras.io/api/layers/normalization_layers/batch_normalization (the `training` argument)
    """
    wrong = need(
        loop_of(signals).trained_in_evaluation,
        "an evaluation, in a function of its own,",
        "rehearse the whole script, with its evaluation",
    )
    count = wrong.layers
    seen = Evidence("layers that an evaluation calls in training mode", count, "layers", int(limit))
    if count > limit:
        yield Finding(
            f"the evaluation calls its model in training mode: of {count} layers {wrong.norms} "
            f"normalise by its batches, and learn of them, and {wrong.dropouts} drop.",
            by_model(
                signals,
                "logits = model(x, training=False)  # stateless_call(..., training=False) likewise",
                "model.eval()  # before it, of flax nnx; deterministic=True of linen",
            ),
            (seen,),
            wrong.location,
            severity=Severity.WARNING if wrong.norms else Severity.INFO,
        )
    else:
        yield seen
