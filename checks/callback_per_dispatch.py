from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import Signals

from ._loop import loop_of


@check("TPU111", Severity.WARNING)
def callback_per_dispatch(signals: Signals) -> Judgement:
    """A callback counts dispatches instead of steps.

    ## What it sees
    Batch hooks of the user's callbacks that set the learning rate and increment a counter of their
    own at each call, and the number of steps in one dispatch (`steps_per_execution`). Hooks that
    use the batch number that Keras passes are left out.

    ## Why it costs
    With 16 steps in a dispatch a hook is called once for 16 steps: a warm-up by its count takes 16
    times as long, and a decay never reaches its end. Training continues at other learning rates
    than those that are written.

    ## What to do
    ```python
    schedule = keras.optimizers.schedules.CosineDecay(0.0, steps, warmup_target=0.1,
                                                      warmup_steps=warmup)   # counts steps itself
    model.compile(keras.optimizers.SGD(schedule), loss, steps_per_execution=16)
    ```

    ## Source
    https://keras.io/api/models/model_training_apis (steps_per_execution: callbacks are called once
    every N batches)
    """
    loop = loop_of(signals)
    at_once = signals.dispatch.steps_per_dispatch if signals.dispatch is not None else 1
    for callback in loop.batch_callbacks if at_once > 1 else ():
        yield Finding(
            f"{callback.name} sets the learning rate by {callback.counter}, a count of its own "
            f"calls: one for {at_once} steps (steps_per_execution).",
            f"self.{callback.counter} += {at_once}  # or by the optimizer's own count of steps:\n"
            "optimizer = keras.optimizers.SGD(keras.optimizers.schedules.CosineDecay(...))",
            (
                Evidence("steps in a dispatch", at_once, "steps", 1),
                Evidence("calls seen", callback.calls, "calls"),
            ),
            callback.location,
        )
    yield Evidence("hooks that set the rate by their count", len(loop.batch_callbacks), "hooks")
    yield Evidence("steps in a dispatch", at_once, "steps")
