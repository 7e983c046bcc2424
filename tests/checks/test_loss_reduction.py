"""Gradients that are reduced by the job, and by its optimizer."""

from dataclasses import replace

import pytest

from tpudiag.model import Location
from tpudiag.signals import KerasUse, LossScale

from .rehearsal import NUMERICS, examine, h

LINE = Location("train.py", 31)


def test_a_loss_that_keras_makes_of_a_whole_batch_is_mended_in_the_model() -> None:
    keras = KerasUse(package="keras", version="3.15.1", loop="fit", fit_at=LINE)
    (told,) = examine(h(keras=keras, loss=(LossScale(1.0, 8, False),)), "TPU502").findings
    assert told.location == LINE and "(batch, 1)" in told.fix


@pytest.mark.parametrize(("weight", "findings"), [(1 / 8, 1), (1 / 64, 0)])
def test_gradients_summed_twice_are_told_unless_the_loss_makes_up_for_it(
    weight: float, findings: int
) -> None:
    numerics = replace(NUMERICS, summed_twice=LINE)
    told = examine(h(numerics=numerics, loss=(LossScale(weight, 8, False),)), "TPU502")
    assert [each.location for each in told.findings] == [LINE] * findings


def test_a_loss_that_is_divided_twice_loses_one_division() -> None:
    (told,) = examine(h(loss=(LossScale(1 / 64, 8, False, LINE),)), "TPU502").findings
    assert "by the replicas twice" in told.message and "leave one" in told.fix
