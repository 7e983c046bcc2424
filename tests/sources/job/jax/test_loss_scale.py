"""How a loss is scaled that each device differentiates by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from tpudiag.signals import LossScale
from tpudiag.sources.job.jax import loss_scale

pytestmark = pytest.mark.slow
DEVICES, ROWS, WIDE, NARROW = 8, 16, 32, 4
AXIS, MICRO_BATCHES = "data", 8
STATE: Counter[tuple[int, ...]] = Counter(
    {(WIDE, WIDE): WIDE * WIDE * 4, (WIDE, NARROW): WIDE * NARROW * 4}
)
Step = Callable[[Any, Any, Any], tuple[Any, Any]]


def losses(jax: Any, params: Any, x: Any, y: Any) -> Any:
    hidden = jax.nn.relu(x @ params["a"])
    return ((hidden @ params["b"] - y) ** 2).mean(axis=-1)


def mean(jax: Any, *given: Any) -> Any:
    return losses(jax, *given).mean()


def of_hidden(jax: Any, params: Any, x: Any, y: Any) -> Any:
    """With a term of what relu's own gradient is a mask of."""
    return mean(jax, params, x, y) + jax.nn.relu(x @ params["a"]).mean()


def of_all(jax: Any, *given: Any) -> Any:
    """The sum, divided by the global batch."""
    return losses(jax, *given).sum() / (ROWS * DEVICES)


def mean_of_all(jax: Any, *given: Any) -> Any:
    return jax.lax.pmean(mean(jax, *given), AXIS)


def mean_of_parts(jax: Any, *given: Any) -> Any:
    return mean(jax, *given) / DEVICES


def mean_of_batches(jax: Any, *given: Any) -> Any:
    return mean(jax, *given) / MICRO_BATCHES


def decayed(jax: Any, params: Any, *given: Any) -> Any:
    return mean(jax, params, *given) + 1e-4 * (params["a"] ** 2).sum()


def counted(jax: Any, *given: Any) -> Any:
    each = losses(jax, *given)
    return each.sum() / jax.lax.psum((each > 0).sum(), AXIS)


def summed(jax: Any, gradients: Any) -> Any:
    return jax.lax.psum(gradients, AXIS)


def averaged(jax: Any, gradients: Any) -> Any:
    return jax.lax.pmean(gradients, AXIS)


def summed_and_divided(jax: Any, gradients: Any) -> Any:
    def joined(gradient: Any) -> Any:
        return jax.lax.psum(gradient, AXIS) / DEVICES

    return jax.tree.map(joined, gradients)


def clipped(jax: Any, gradients: Any) -> Any:
    gradients = summed(jax, gradients)
    norm = sum((g**2).sum() for g in jax.tree.leaves(gradients)) ** 0.5

    def shorter(gradient: Any) -> Any:
        return gradient / norm

    return jax.tree.map(shorter, gradients)


def descended(value: Any, gradient: Any) -> Any:
    return value - 0.1 * gradient


def read(jax: Any, loss: Any, joined: Any, check_vma: bool) -> LossScale | None:
    """What is read off a step of plain gradient descent."""

    def step(params: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(partial(loss, jax))(params, x, y)
        gradients = joined(jax, gradients)
        new = jax.tree.map(descended, params, gradients)
        return new, jax.lax.pmean(value, AXIS)

    spec = jax.sharding.PartitionSpec
    mesh = jax.sharding.AbstractMesh((DEVICES,), (AXIS,))
    shared = jax.shard_map(
        step,
        mesh=mesh,
        in_specs=(spec(), spec(AXIS), spec(AXIS)),
        out_specs=spec(),
        check_vma=check_vma,
    )
    params = {
        name: jax.ShapeDtypeStruct(shape, "float32")
        for name, shape in zip("ab", STATE, strict=True)
    }
    data = [jax.ShapeDtypeStruct((ROWS * DEVICES, n), "float32") for n in (WIDE, NARROW)]
    program = jax.make_jaxpr(jax.jit(shared))(params, *data).jaxpr
    return loss_scale.read(program, ROWS, DEVICES, STATE)


@pytest.mark.parametrize(
    ("loss", "joined", "check_vma", "weight", "by_mean"),
    [
        (mean, summed, False, 1, False),
        (mean, averaged, False, 1, True),
        (mean, summed_and_divided, False, 1, True),
        (of_all, summed, False, 1 / DEVICES, False),
        # JAX sums the gradients of what all devices share, and their mean is that sum.
        (mean, averaged, True, 1, False),
        (mean, summed, True, DEVICES, False),
        (mean_of_all, averaged, True, 1 / DEVICES, False),
        (mean_of_parts, averaged, False, 1 / DEVICES, True),
        (decayed, summed, False, 1, False),
        (of_hidden, summed, False, 1, False),
    ],
)
def test_how_a_loss_is_scaled(
    jax: Any, loss: Any, joined: Any, check_vma: bool, weight: float, by_mean: bool
) -> None:
    found = read(jax, loss, joined, check_vma)
    assert found is not None
    assert found.weight == pytest.approx(weight)
    assert found.gradients_averaged == by_mean
    assert found.location is not None and found.location.file.endswith("test_loss_scale.py")


@pytest.mark.parametrize(
    ("loss", "joined"), [(mean, clipped), (counted, summed), (mean_of_batches, averaged)]
)
def test_what_is_no_constant_is_not_told(jax: Any, loss: Any, joined: Any) -> None:
    assert read(jax, loss, joined, False) is None
