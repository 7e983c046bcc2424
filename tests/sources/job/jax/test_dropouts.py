"""Which functions of JAX drop out."""

from typing import Any

import pytest

from tpudiag.sources.job.jax import dropouts

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("kind", "count"),
    [("dropout", 2), ("none", 0), ("noise", 0), ("of data", 0), ("relu", 0), ("norm", 0)],
)
def test_what_is_zero_by_chance_or_learns(jax: Any, kind: str, count: int) -> None:
    numpy, random = jax.numpy, jax.random

    def dropped(key: Any, x: Any) -> Any:
        if kind == "noise":
            return x + random.normal(key, x.shape)
        if kind == "relu":
            return numpy.where(x > 0, x, 0)
        return numpy.where(random.bernoulli(key, 0.9, x.shape), x / 0.9, 0) if count else x

    def evaluate(w: Any, key: Any, x: Any, *running: Any) -> Any:
        if kind == "norm":
            return (x @ w).sum(), [0.9 * each + (1 - 0.9) * x.mean() for each in running]
        if kind == "of data":
            return numpy.where(random.bernoulli(key, 0.9, x.shape), x, 0)
        return dropped(key, jax.jit(dropped)(key, x) @ w).mean()

    ones = numpy.ones
    given = (ones((4, 4)), random.key(0), ones((8, 4)), ones(4), ones(4))
    seen = dropouts.read(jax.make_jaxpr(evaluate)(*given).jaxpr)
    assert (seen.norms, seen.dropouts) == (kind == "norm", count)
