"""What the values of a step's arguments tell, before its first calls."""

from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.jax.state_values import LOOKS, StateValues

pytestmark = pytest.mark.slow
KEY = "[0][0]['{}']"


ONE = np.ones((8, 3), "float32")
OWN = np.arange(8.0, dtype="float32")[:, None] * ONE


def seen(*looks: dict[str, Any], mapped: bool = False) -> StateValues:
    """After looks at these arguments."""
    values = StateValues(import_module("jax"), mapped)
    for arrays in looks:
        values.before(((arrays,), {}))
    assert values.looks == LOOKS
    return values


def test_statistics_that_part_and_what_brings_them_together() -> None:
    values = seen(
        *({"params": ONE * n, "stats": ONE + OWN * n, "models": OWN + n} for n in range(LOOKS)),
        mapped=True,
    )
    assert values.apart == {KEY.format("stats")}, "models were never one"
    values.called_beside(True, {"other": OWN[:, :2]})
    assert values.apart
    values.called_beside(True, {"mean": ONE})
    assert not values.apart


def test_a_key_that_stays_and_a_counter_that_does_not() -> None:
    key = np.array([0, 7], "uint32")
    values = seen(*({"key": key, "step": np.array(n, "int32")} for n in range(LOOKS)))
    assert values.fixed == {KEY.format("key")}


@pytest.mark.parametrize("others", [[], ["teacher"]])
def test_a_counter_that_is_raised_may_be_another_states(others: list[str]) -> None:
    zero, values = np.zeros((), "int32"), StateValues(import_module("jax"), False)
    values.before((({name: {"step": zero} for name in ["own", *others]},), {}))
    values.after({"step": zero + 1})
    assert values.raised == (set() if others else {"[0][0]['own']['step']"})


def test_a_counter_that_a_reference_holds_is_one() -> None:
    jax: Any = import_module("jax")
    held, values = jax.new_ref(jax.numpy.zeros((), "int32")), StateValues(jax, False)
    values.before((({"step": held},), {}))
    held[...] += 1
    values.after({"step": held})
    assert values.raised == {"[0][0]['step']"}


def test_weights_in_16_bit_that_a_step_leaves_and_copies_that_it_may_leave() -> None:
    half = import_module("jax").numpy.bfloat16
    looks: list[dict[str, Any]] = []
    for n in range(LOOKS):
        master = np.array([1.0, 2.0, 3.0 + n], "float32")
        alone = np.array([1.0, 1.0 + n, 2.0, 3.0]).astype(half)
        looks.append({"alone": alone, "copy": master.astype(half), "master": master})
    assert seen(*looks).unchanged == {KEY.format("alone"): 0.75}
