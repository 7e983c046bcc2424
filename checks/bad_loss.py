from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals
from tpudiag.signals.delivery import LossTrouble

from ._need import RECORD_IT, need

HOW = "say it as a number that you have anyway: `steps.loss(float(loss))` where you print it"
FIX = (
    "tf.debugging.enable_check_numerics()  # on CPU: names the operation that makes the first NaN\n"
    'jax.config.update("jax_debug_nans", True)  # the same in JAX\n'
    'logits = keras.layers.Dense(classes, dtype="float32")(x)  # softmax and loss in float32\n'
    "optimizer = keras.optimizers.Adam(1e-4, global_clipnorm=1.0)  # optax.clip_by_global_norm"
)


@check("TPU611", Severity.ERROR)
def bad_loss(signals: Signals) -> Judgement:
    """The loss is NaN or Inf, explodes, or does not change.

    ## What it sees
    The loss that the job reports anyway: Keras' logs, scalars in event files whose tag contains
    "loss", and the numbers given to `steps.loss()`. Nothing is copied from the device for it. The
    check fails if the last loss was NaN or Inf, if the last five exceed the largest of the first
    twenty ten times, or if twenty in a row are the same to the digit (a warning).

    ## Why it costs
    Every step after a NaN is paid for and lost: the weights are NaN, and so is every checkpoint
    from then on. bfloat16 keeps 8 bits of precision: in a softmax, a variance or a log of small
    numbers it produces log(0), 0/0 and sums that stop growing. Without clipping, learning rates
    that just worked in float32 then fail, too.

    ## What to do
    ```python
    logits = tf.keras.layers.Dense(classes, dtype="float32")(x)   # softmax and loss in float32
    variance = tf.math.maximum(variance, 1e-6)                    # an epsilon that bfloat16 holds
    optimizer = tf.keras.optimizers.Adam(1e-4, global_clipnorm=1.0)
    callbacks = [tf.keras.callbacks.TerminateOnNaN()]             # and restore the checkpoint
    ```

    ## Source
    https://cloud.google.com/tpu/docs/bfloat16; tests/benchmarks/bench_running.py
    """
    seen = need(signals.throughput, "the loss", RECORD_IT)
    if seen.loss is not None:
        yield _finding(seen.loss, seen.source)
    elif not seen.losses_said:
        raise NotMeasured("the job does not say its loss", HOW)
    yield Evidence("losses said", seen.losses_said, "times", source=seen.source)


def _finding(loss: LossTrouble, source: str) -> Finding:
    what = {
        "NaN": "is NaN",
        "Inf": "is infinite (Inf)",
        "explodes": "has exploded",
        "stands still": "stands still, to the digit,",
    }[loss.what]
    last = "" if loss.last is None else f"; the last number was {loss.last:.6g}"
    first = "" if loss.first is None else f", the first {loss.first:.6g}"
    return Finding(
        f"the loss {what} since about step {loss.step:,}{last}{first}.",
        FIX,
        (Evidence("since step", loss.step, "steps", source=source),),
        severity=Severity.WARNING if loss.what == "stands still" else Severity.ERROR,
    )
