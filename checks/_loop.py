"""What the checks on the training loop share."""

from tpudiag.model import Location
from tpudiag.signals import Signals, StepNumerics, TrainingLoop

from ._need import need, of_a_job

FEWEST_STEPS = 5
"""Steps from which on it can be told what a loop does at each of them."""


def loop_of(signals: Signals, fewest: int = 1) -> TrainingLoop:
    """The training loop as it was seen from Python; skips where too few of its steps were."""
    of_a_job(signals, "what Python did around the steps")
    loop = need(signals.loop, "a training loop")
    if loop.dispatches < fewest:
        few = "a training step" if fewest == 1 else f"a loop of {fewest} training steps"
        steps = "a step" if fewest == 1 else f"{fewest} steps"
        need(None, few, f"rehearse {steps} or more: `tpudiag check train.py`")
    return loop


def training_call(signals: Signals) -> Location | None:
    """The line that trains: the fit, or the first call of a step."""
    # Keras' own train_step lies in the library: the line of the fit is the user's.
    if signals.keras is not None and signals.keras.fit_at is not None:
        return signals.keras.fit_at
    steps = signals.coverage.functions if signals.coverage is not None else ()
    return next((step.called_at for step in steps if step.called_at is not None), None)


def numerics_of(signals: Signals) -> StepNumerics:
    """What the traced step does to its numbers."""
    of_a_job(signals, "the operations of the step with their lines")
    return need(signals.numerics, "a traced training step")
