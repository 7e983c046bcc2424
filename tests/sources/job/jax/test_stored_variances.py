"""Which arguments of a step are variances that it normalises by."""

from typing import Any

import pytest

from tpudiag.sources.job.jax.stored_variances import StoredVariances

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("of", ["stored", "batch", "scaled"])
def test_a_variance_that_is_stored_is_none_of_the_batch(jax: Any, of: str) -> None:
    def loss(scale: Any, variance: Any, x: Any) -> Any:
        used = x.var(0) if of == "batch" else variance.reshape(1, 3)
        inverse = jax.lax.rsqrt(used.astype("float32") + 1e-3)
        return (x * (inverse * scale if of != "scaled" else 2 * inverse)).sum()

    ones = jax.numpy.ones
    traced = jax.jit(jax.value_and_grad(loss)).trace(ones(3), ones(3), ones((8, 3)))
    found = StoredVariances(traced.jaxpr.jaxpr).scaled
    assert {n: scale for n, (scale, _) in found.items()} == ({1: 0} if of == "stored" else {})
