from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import by_framework, need

_SQUEEZED = (
    "predictions = {}.squeeze(predictions, axis=-1)  # (batch, 1) to (batch,), as the labels"
)


@check("TPU514", Severity.WARNING, frameworks=BOTH)
def loss_of_pairs(signals: Signals) -> Judgement:
    """The loss compares each prediction with every label of the batch.

    ## What it sees
    In the traced step, between the differentiated loss and the network: a difference or product of
    what is made of the variables and of what is made of the data alone, one of them a column
    (batch, 1) and the other a list (batch,), whose result (batch, batch) is reduced. Pairs that a
    kernel, a minimum or a ranking is made of are left out.

    ## Why it costs
    No error: the shapes are broadcast, the loss falls, and the model learns the mean of the labels
    for every example. The batch's square of values is computed besides.

    ## What to do
    ```python
    loss = tf.reduce_mean(tf.square(tf.squeeze(predictions, -1) - labels))
    loss = jnp.mean((predictions.squeeze(-1) - labels) ** 2)
    ```

    ## Source
    https://numpy.org/doc/stable/user/basics.broadcasting.html
    """
    numerics = numerics_of(signals)
    need(numerics.loss_followed or None, "the shapes that meet in the loss")
    paired = numerics.paired_loss
    if paired is not None:
        n = paired.rows or "batch"
        yield Finding(
            f"({n}, 1) meets ({n},) in the loss: by broadcasting each prediction is compared with "
            "every label, not with its own.",
            _SQUEEZED.format(by_framework(signals, "tf", "jnp")),
            (Evidence("values in place of one for each example", f"{n} x {n}", "", str(n)),),
            paired.location,
        )
    yield Evidence("losses of pairs", int(paired is not None), "losses", 0)
