"""What the values of a step's arguments tell, before its first calls."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.jax.state_values import LOOKS, StateValues

pytestmark = pytest.mark.slow
KEY = "[0][0]['{}']"


def seen(*, mapped: bool = False, **arrays: Any) -> StateValues:
    """After looks at these arguments: each gives its array by the number of the look."""
    values = StateValues(import_module("jax"), mapped)
    for look in range(LOOKS):
        values.before((({name: of(look) for name, of in arrays.items()},), {}))
    return values


def test_statistics_that_part_and_what_brings_them_together() -> None:
    own = np.arange(8.0, dtype="float32")[:, None] * np.ones((1, 3), "float32")
    one = np.ones((8, 3), "float32")
    values = seen(
        mapped=True,
        params=lambda look: one * look,
        stats=lambda look: one + own * look,
        models=lambda look: own + look,
    )
    assert values.apart == {KEY.format("stats")}, "models were never one"
    values.called_beside(True, {"other": own[:, :2]})
    assert values.apart
    values.called_beside(True, {"mean": one})
    assert not values.apart


def test_a_key_that_stays_and_a_counter_that_does_not() -> None:
    values = seen(
        key=lambda _: np.array([0, 7], "uint32"), step=lambda look: np.array(look, "int32")
    )
    assert values.fixed == {KEY.format("key")}


def test_weights_in_16_bit_that_a_step_leaves_and_copies_that_it_may_leave() -> None:
    half = import_module("jax").numpy.bfloat16
    values = seen(
        alone=lambda look: np.array([1.0, 1.0 + look, 2.0, 3.0]).astype(half),
        copy=lambda look: np.array([1.0, 2.0, 3.0 + look]).astype(half),
        master=lambda look: np.array([1.0, 2.0, 3.0 + look], "float32"),
    )
    assert values.unchanged == {KEY.format("alone"): 0.75}
