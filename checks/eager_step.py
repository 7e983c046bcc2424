"""TPU104."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Location, Severity, check
from tpudiag.signals import Dispatch, Signals

from ._need import need


@check("TPU104", Severity.ERROR)
def eager_step(signals: Signals) -> Iterator[Finding | Evidence]:
    """The training step runs outside tf.function.

    ## What it sees
    Gradients taken and strategy.run called while executing eagerly, compile(run_eagerly=True) and
    tf.config.run_functions_eagerly(True).

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
        message, fix, location = _cause(dispatch)
        counts = (
            Evidence("eager steps", dispatch.eager_steps, "steps", 0),
            Evidence("steps", dispatch.steps, "steps"),
        )
        yield Finding(message, fix, counts, location)
    yield Evidence("steps in a tf.function", dispatch.steps - dispatch.eager_steps, "steps")


def _cause(dispatch: Dispatch) -> tuple[str, str, Location | None]:
    """What makes the step run eagerly, its fix and its line."""
    if dispatch.made_eager_at is None and dispatch.run_eagerly:
        fix = "model.compile(..., run_eagerly=False)\ntf.config.run_functions_eagerly(False)"
        return "the model was compiled with run_eagerly=True.", fix, dispatch.compiled_at
    if dispatch.made_eager_at is not None:
        return (
            "tf.config.run_functions_eagerly(True) makes every tf.function run eagerly.",
            "tf.config.run_functions_eagerly(False)  # or leave it out: False is the default",
            dispatch.made_eager_at,
        )
    return (
        "the training step runs eagerly: TPUStrategy.run needs a tf.function around it.",
        "@tf.function\ndef train_step(batch):\n    return strategy.run(step, args=(batch,))",
        dispatch.eager_location,
    )
