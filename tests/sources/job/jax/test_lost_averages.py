"""A running average of an argument is lost where no result of the step has it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import pytest

from tpudiag.sources.job.jax import lost_averages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def jax() -> Any:
    return import_module("jax")


@pytest.mark.parametrize("form", ["teacher", "plain", "inner", "cast"])
@pytest.mark.parametrize("kept", [False, True])
def test_statistics_that_are_returned_or_not(jax: Any, form: str, *, kept: bool) -> None:
    def forward(weights: Any, running: Any, x: Any) -> Any:
        mean = (x @ weights).mean(0)
        new = running * 0.9 + (1 - 0.9) * mean
        return (x @ weights - mean).var(), new.astype("bfloat16") if form == "cast" else new

    def step(weights: Any, running: Any, x: Any) -> Any:
        def function(*arguments: Any) -> Any:
            return (jax.jit(forward) if form == "inner" else forward)(*arguments)

        if form == "teacher":
            (loss, new), gradients = function(weights, running, x), weights
        else:
            (loss, new), gradients = jax.value_and_grad(function, has_aux=True)(weights, running, x)
        return loss, gradients, *((new,) if kept else ())

    ones = jax.numpy.ones
    program = jax.jit(step).trace(ones((4, 3)), ones(3), ones((8, 4))).jaxpr.jaxpr
    assert list(lost_averages.read(program)) == ([] if kept or form == "teacher" else [1])


def test_a_mix_of_data_and_a_momentum_are_no_lost_averages(jax: Any) -> None:
    def step(momentum: Any, x: Any, y: Any) -> Any:
        mixed = 0.3 * x + 0.7 * y
        return (0.9 * momentum + mixed.mean() + 0.9 * momentum + 0.5 * x.mean(0)).sum()

    ones = jax.numpy.ones
    program = jax.jit(jax.grad(step)).trace(ones(4), ones((8, 4)), ones((8, 4))).jaxpr.jaxpr
    assert not lost_averages.read(program)
