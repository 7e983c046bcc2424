"""The steps that a fit takes before its data ends: as both Keras were seen to take them."""

from __future__ import annotations

import importlib

import pytest

from tpudiag.signals import FitData

done = importlib.import_module("tpudiag.checks.out_of_data").done


@pytest.mark.parametrize(
    ("batches", "steps", "again", "taken"),
    [(8, 5, False, 8), (8, 5, True, 16), (8, 4, True, 16), (-1, 5, False, 20), (20, 5, False, 20)],
)
def test_four_epochs(batches: int, steps: int, again: bool, taken: int) -> None:
    data = FitData(
        batches=batches, steps_per_epoch=steps, epochs=4, starts_again=again, location=None
    )
    assert done(data) == taken
