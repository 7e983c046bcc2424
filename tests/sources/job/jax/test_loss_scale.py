"""How a loss is scaled that each device differentiates by itself."""

# pyright: reportUnknownLambdaType=false
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


def losses(jax: Any, params: Any, x: Any, y: Any) -> Any:
    hidden = jax.nn.relu(x @ params["a"])
    return ((hidden @ params["b"] - y) ** 2).mean(axis=-1)


def mean(jax: Any, *given: Any) -> Any:
    return losses(jax, *given).mean()


def normalised(jax: Any, params: Any, x: Any, y: Any) -> Any:
    average = jax.lax.pmean(x.mean(axis=0)[None], AXIS)
    return mean(jax, params, x - average, y)


def counted(jax: Any, *given: Any) -> Any:
    each = losses(jax, *given)
    return each.sum() / jax.lax.psum((each > 0).sum(), AXIS)


LOSSES: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "mean": mean,
    "sum, divided by the global batch": lambda jax, *given: (
        losses(jax, *given).sum() / (ROWS * DEVICES)
    ),
    "mean of all": lambda jax, *given: jax.lax.pmean(mean(jax, *given), AXIS),
    "mean of parts": lambda jax, *given: mean(jax, *given) / DEVICES,
    "mean of micro-batches": lambda jax, *given: mean(jax, *given) / MICRO_BATCHES,
    "with weight decay": lambda jax, params, *given: (
        mean(jax, params, *given) + 1e-4 * (params["a"] ** 2).sum()
    ),
    # With a term of what relu's own gradient is a mask of.
    "with hidden": lambda jax, params, x, y: (
        mean(jax, params, x, y) + jax.nn.relu(x @ params["a"]).mean()
    ),
    "counted": counted,
    "with statistics of all": normalised,
}


def clipped(jax: Any, gradients: Any) -> Any:
    gradients = jax.lax.psum(gradients, AXIS)
    norm = sum((g**2).sum() for g in jax.tree.leaves(gradients)) ** 0.5
    return jax.tree.map(lambda g: g / norm, gradients)


JOINED: dict[str, Callable[[Any, Any], Any]] = {
    "summed": lambda jax, gradients: jax.lax.psum(gradients, AXIS),
    "averaged": lambda jax, gradients: jax.lax.pmean(gradients, AXIS),
    "summed and divided": lambda jax, gradients: jax.tree.map(
        lambda g: jax.lax.psum(g, AXIS) / DEVICES, gradients
    ),
    "clipped": clipped,
}


def read(jax: Any, loss: str, joined: str, check_vma: bool) -> LossScale | None:
    """What is read off a step of plain gradient descent."""

    def step(params: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(partial(LOSSES[loss], jax))(params, x, y)
        gradients = JOINED[joined](jax, gradients)
        new = jax.tree.map(lambda value, g: value - 0.1 * g, params, gradients)
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
    made = (jax.ShapeDtypeStruct(shape, "float32") for shape in STATE)
    params = dict(zip("ab", made, strict=True))
    data = [jax.ShapeDtypeStruct((ROWS * DEVICES, n), "float32") for n in (WIDE, NARROW)]
    program = jax.make_jaxpr(jax.jit(shared))(params, *data).jaxpr
    return loss_scale.read(program, ROWS, DEVICES, STATE)


@pytest.mark.parametrize(
    ("loss", "joined", "check_vma", "weight", "by_mean"),
    [
        ("mean", "summed", False, 1, False),
        ("mean", "averaged", False, 1, True),
        ("mean", "summed and divided", False, 1, True),
        ("sum, divided by the global batch", "summed", False, 1 / DEVICES, False),
        # JAX sums the gradients of what all devices share, and their mean is that sum.
        ("mean", "averaged", True, 1, False),
        ("mean", "summed", True, DEVICES, False),
        ("mean of all", "averaged", True, 1 / DEVICES, False),
        ("mean of parts", "averaged", False, 1 / DEVICES, True),
        ("with weight decay", "summed", False, 1, False),
        ("with hidden", "summed", False, 1, False),
        ("with statistics of all", "summed", False, 1, False),
    ],
)
def test_how_a_loss_is_scaled(
    jax: Any, loss: str, joined: str, check_vma: bool, weight: float, by_mean: bool
) -> None:
    found = read(jax, loss, joined, check_vma)
    assert found is not None
    assert found.weight == pytest.approx(weight)
    assert found.gradients_averaged == by_mean
    assert found.location is not None and found.location.file.endswith("test_loss_scale.py")


@pytest.mark.parametrize(
    ("loss", "joined"),
    [("mean", "clipped"), ("counted", "summed"), ("mean of micro-batches", "averaged")],
)
def test_what_is_no_constant_is_not_told(jax: Any, loss: str, joined: str) -> None:
    assert read(jax, loss, joined, False) is None
