from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import numerics_of
from ._need import HALF, by_framework, by_library, need

_LAST_LAYER = 'layers.Dense(classes, activation="softmax", dtype="float32")  # the last layer\n'


@check("TPU407", Severity.WARNING, frameworks=BOTH)
def low_precision_loss(signals: Signals) -> Judgement:
    """The softmax, the loss or positions are computed in 16 bits.

    ## What it sees
    The operations of the traced step between the last matrix products and the loss: softmax,
    sigmoid, logarithm and cross entropy on bfloat16 or float16, and the dtype of the loss itself.
    The softmax of attention comes before products and does not count. Anywhere in the step:
    whole numbers in a row, as positions are, that are cast to 16 bits in which several are one.

    ## Why it costs
    bfloat16 has 8 bits of mantissa: probabilities above 0.998 are 1, small ones vanish, and a sum
    over a batch loses its last terms. The loss stops falling or jumps and accuracy is lost. No time
    is saved: the products before it are the expensive part. Of the positions above 256 bfloat16
    has every second, above 512 every fourth: a long context has no order there.

    ## What to do
    ```python
    outputs = keras.layers.Dense(classes)(x)
    outputs = keras.layers.Activation("softmax", dtype="float32")(outputs)
    logits = tf.cast(logits, tf.float32)          # custom loop: before the loss
    ```

    ## Source
    https://www.tensorflow.org/guide/mixed_precision#building_the_model
    """
    numerics = numerics_of(signals)
    cast = by_framework(signals, "tf.cast(logits, tf.float32)", "logits.astype(jnp.float32)")
    operations = numerics.low_precision
    if operations:
        first = operations[-1]
        kinds = ", ".join(dict.fromkeys(op.op for op in operations))
        yield Finding(
            f"{kinds} on the way to the loss runs in {first.dtype}.",
            by_library(signals, _LAST_LAYER, "") + f"logits = {cast}  # in a loop: before the loss",
            tuple(
                Evidence(op.op, f"{op.dtype} {op.name}", limit="float32") for op in operations[:4]
            ),
            first.location or next((op.location for op in operations if op.location), None),
        )
    elif numerics.loss_dtype in HALF:
        yield Finding(
            f"the loss is summed in {numerics.loss_dtype}.",
            f"logits = {cast}  # before the loss",
            (Evidence("loss", numerics.loss_dtype, limit="float32"),),
            signals.batch.location if signals.batch is not None else None,
        )
    for merged in numerics.merged:
        yield Finding(
            f"{merged.count:,} whole numbers in a row, as positions are, are {merged.different:,} "
            f"different ones in {merged.dtype}: the large ones run together.",
            by_framework(
                signals,
                "positions = tf.range(length, dtype=tf.float32)  # the angles in float32, too\n"
                "cos, sin = (tf.cast(f(angles), x.dtype) for f in (tf.cos, tf.sin))",
                "positions = jnp.arange(length, dtype=jnp.float32)  # cast their cos and sin",
            ),
            (Evidence("different numbers", merged.different, limit=merged.count),),
            merged.location,
        )
    if not (operations or numerics.merged):
        need(numerics.loss_dtype or None, "the loss, in one number of 32 bits")
    yield Evidence("loss", numerics.loss_dtype)
