"""Shared by the checks on the training loop."""

from tpudiag.model import Location
from tpudiag.signals import Signals, StepNumerics, TrainingLoop

from ._need import need, of_a_job

FEWEST_STEPS = 4
"""The least steps that show what a loop does in each of them: a slow rehearsal sees no more."""


def loop_of(signals: Signals, fewest: int = 1) -> TrainingLoop:
    """The training loop as observed in Python; skips where too few of its steps were."""
    of_a_job(signals, "what Python did around the steps")
    loop = need(signals.loop, "a training loop")
    if loop.dispatches < fewest:
        few = "a training step" if fewest == 1 else f"a loop of {fewest} training steps"
        steps = "a step" if fewest == 1 else f"{fewest} steps"
        need(None, few, f"rehearse {steps} or more: `tpudiag check train.py`")
    return loop


def training_call(signals: Signals) -> Location | None:
    """The training line: the fit, or the first call of a step."""
    # Keras' own train_step is in the library: the fit is the user's line.
    if signals.keras is not None and signals.keras.fit_at is not None:
        return signals.keras.fit_at
    steps = signals.coverage.functions if signals.coverage is not None else ()
    called_at = next((step.called_at for step in steps if step.called_at is not None), None)
    eager = signals.dispatch.eager_location if signals.dispatch is not None else None
    return called_at or eager


def numerics_of(signals: Signals) -> StepNumerics:
    """The traced step's numerics."""
    of_a_job(signals, "the operations of the step with their lines")
    return need(signals.numerics, "a traced training step")
