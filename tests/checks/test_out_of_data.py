"""The steps that a fit takes before its data ends: as both Keras were seen to take them."""

import importlib
from dataclasses import replace

import pytest

from tpudiag.model import Verdict
from tpudiag.signals import FitData, JobEnd

from .rehearsal import LOOP, RAN_OUT, examine, h

done = importlib.import_module("tpudiag.checks.out_of_data").done


@pytest.mark.parametrize(
    ("batches", "steps", "again", "taken"),
    [
        (8, 5, False, 8),
        (8, 5, True, 16),
        (8, 4, True, 16),
        (-1, 5, False, 20),
        (20, 5, False, 20),
        (5, 5, False, 20),
    ],
)
def test_four_epochs(batches: int, steps: int, again: bool, taken: int) -> None:
    data = FitData(
        batches=batches, steps_per_epoch=steps, epochs=4, starts_again=again, location=None
    )
    assert done(data) == taken


@pytest.mark.parametrize(
    "fits",
    [(), (replace(LOOP.fits[0], batches=-2, validation_unknown=True),)],
    ids=["no steps given", "or the validation data"],
)
def test_what_keras_says_when_it_has_counted_the_batches_is_no_finding(
    fits: tuple[FitData, ...],
) -> None:
    end = JobEnd(how="stopped", log_tail=f"UserWarning: {RAN_OUT}. Make sure")
    outcome = examine(h(loop=replace(LOOP, fits=fits), end=end), "TPU212")
    assert outcome.verdict is Verdict.SKIPPED
