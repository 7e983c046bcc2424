"""Which arguments a step makes anew, in the ways that optimizers and layers write it."""

from typing import Any

import pytest

from tpudiag.sources.job.jax.lost_state import MadeAnew
from tpudiag.sources.job.jax.programs import line

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize(
    ("form", "found"),
    [
        ("momentum + 0.1 * (gradient - momentum)", True),  # Keras
        ("0.9 * momentum + gradient", True),  # optax
        ("momentum + gradient**2", True),
        ("epsilon * momentum + (1 - epsilon) * gradient", True),  # hyperparameters as arguments
        ("momentum + gradient * 0 + epsilon", True),
        ("jnp.where(epsilon > 1, momentum, 0.9 * momentum + gradient)", False),  # not in each step
        ("gradient - 0.01 * momentum", False),  # pulled to a fixed point
        ("gradient + momentum * weights", False),
    ],
)
def test_new_values_of_an_argument_and_gradients(
    jax: Any, form: str, *, found: bool, kept: bool
) -> None:
    def step(weights: Any, momentum: Any, epsilon: Any, x: Any) -> Any:
        def loss(weights: Any) -> Any:
            return ((x @ weights) ** 2).mean()

        gradient = jax.grad(loss)(weights)
        new = eval(form, {**locals(), "jnp": jax.numpy})
        weights = weights - 0.1 * gradient * new + epsilon
        return (weights, new) if kept else weights

    ones = jax.numpy.ones
    program = jax.jit(step).trace(ones(4), ones(4), ones(()), ones((8, 4))).jaxpr.jaxpr
    anew = MadeAnew(program)
    assert {n: n in anew.returned for n in anew.moments} == ({1: kept} if found else {})


@pytest.mark.parametrize("form", ["teacher", "plain", "inner", "cast", "closed"])
@pytest.mark.parametrize("kept", [False, True])
def test_statistics_that_are_returned_or_not(jax: Any, form: str, *, kept: bool) -> None:
    def forward(weights: Any, running: Any, x: Any) -> Any:
        mean = (x @ weights).mean(0)
        new = running * 0.9 + (1 - 0.9) * mean
        return (x @ weights - mean).var(), new.astype("bfloat16") if form == "cast" else new

    def step(weights: Any, running: Any, x: Any) -> Any:
        def function(weights: Any, running: Any, x: Any) -> Any:
            given = weights, start if form == "closed" else running, x
            return (jax.jit(forward) if form == "inner" else forward)(*given)

        if form == "teacher":
            (loss, new), gradients = function(weights, running, x), weights
        else:
            (loss, new), gradients = jax.value_and_grad(function, has_aux=True)(weights, running, x)
        return loss, gradients, *((new,) if kept else ())

    ones = jax.numpy.ones
    start = ones(3)
    program = jax.jit(step).trace(ones((4, 3)), ones(3), ones((8, 4))).jaxpr.jaxpr
    unread = MadeAnew(program).unread
    number = -1 if form == "closed" else 1
    assert list(unread) == ([] if kept or form == "teacher" else [number])
    for made in unread.values() if form == "plain" else ():  # a line of the step throws it away
        of_model, own = line(made), line(made, step.__code__)
        assert of_model is not None and own is not None
        assert (of_model.line or 0) < step.__code__.co_firstlineno < (own.line or 0)


def test_a_mix_of_data_and_a_momentum_are_no_lost_averages(jax: Any) -> None:
    def step(momentum: Any, x: Any, y: Any) -> Any:
        mixed = 0.3 * x + 0.7 * y
        return (0.9 * momentum + mixed.mean() + 0.9 * momentum + 0.5 * x.mean(0)).sum()

    ones = jax.numpy.ones
    program = jax.jit(jax.grad(step)).trace(ones(4), ones((8, 4)), ones((8, 4))).jaxpr.jaxpr
    assert not MadeAnew(program).unread
