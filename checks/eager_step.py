"""TPU104."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Signals

from ._need import need


@check("TPU104", Severity.ERROR)
def eager_step(signals: Signals) -> Iterator[Finding | Evidence]:
    """The training step runs outside tf.function.

    ## What it sees
    Gradients taken and strategy.run called while executing eagerly, and compile(run_eagerly=True).

    ## Why it costs
    TPUStrategy refuses a plain Python step ("does not support pure eager execution"); where it
    runs at all, every operation is sent to the device by itself.

    ## What to do
    ```python
    @tf.function
    def train_step(batch):
        return strategy.run(step, args=(batch,))
    ```

    ## Source
    tensorflow#41074, tensorflow#42603
    """
    dispatch = need(signals.dispatch, "a training step")
    if dispatch.eager_steps or dispatch.run_eagerly:
        yield Finding(
            "the model was compiled with run_eagerly=True."
            if dispatch.run_eagerly
            else "the training step runs eagerly: TPUStrategy.run needs a tf.function around it.",
            "model.compile(..., run_eagerly=False)\ntf.config.run_functions_eagerly(False)"
            if dispatch.run_eagerly
            else "@tf.function\n"
            "def train_step(batch):\n    return strategy.run(step, args=(batch,))",
            (
                Evidence("eager steps", dispatch.eager_steps, "steps", 0),
                Evidence("steps", dispatch.steps, "steps"),
            ),
            dispatch.compiled_at if dispatch.run_eagerly else dispatch.eager_location,
        )
    yield Evidence("steps in a tf.function", dispatch.steps - dispatch.eager_steps, "steps")
