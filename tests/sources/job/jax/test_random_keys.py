"""Which draws of a step get the same key."""

from __future__ import annotations

from typing import Any

import pytest

from tpudiag.model import Location
from tpudiag.sources.job.jax.random_keys import RandomKeys

pytestmark = pytest.mark.slow
ROWS, TURNS = 8, 4


CALL = Location("train.py", 56)


def kinds(jax: Any, step: Any, *, typed: bool, fixed: tuple[int, ...] = ()) -> list[str]:
    key = jax.random.key(0) if typed else jax.random.PRNGKey(0)
    found = RandomKeys(jax.jit(step).trace(key, 3).jaxpr.jaxpr)
    again = found.same(ROWS, 1, frozenset(fixed), frozenset(), CALL)
    return [same.kind + " given" * (same.location == CALL) for same in again]


@pytest.mark.parametrize("typed", [True, False])
def test_a_key_that_is_used_twice(jax: Any, typed: bool) -> None:
    def twice(key: Any, step: Any) -> Any:
        noise = jax.random.normal(key, (3,)) * step
        return noise + jax.random.uniform(key, (3,))

    def split(key: Any, step: Any) -> Any:
        first, second = jax.random.split(key)
        third = jax.random.fold_in(second, step)
        return jax.random.normal(first, (3,)) + jax.random.normal(third, (3,))

    assert kinds(jax, twice, typed=typed) == ["twice"]
    assert not kinds(jax, split, typed=typed)


@pytest.mark.parametrize("typed", [True, False])
def test_a_key_that_is_the_same_in_each_turn_or_step(jax: Any, typed: bool) -> None:
    def turns(key: Any, step: Any) -> Any:
        def turn(total: Any, x: Any) -> Any:
            return total + jax.random.normal(key, (ROWS // TURNS,)).sum() * x, None

        return jax.lax.scan(turn, 0.0, jax.numpy.arange(TURNS) * step)[0]

    def folded(key: Any, step: Any) -> Any:
        def turn(total: Any, x: Any) -> Any:
            own = jax.random.fold_in(key, x)
            return total + jax.random.normal(own, (ROWS // TURNS,)).sum(), None

        return jax.lax.scan(turn, 0.0, jax.numpy.arange(TURNS) * step)[0]

    def made_inside(key: Any, step: Any) -> Any:
        del key
        return jax.random.normal(jax.random.PRNGKey(7), (ROWS,)) * step

    def given(key: Any, step: Any) -> Any:
        return jax.random.normal(key, (ROWS,)) * step

    def projection(key: Any, step: Any) -> Any:
        return jax.random.normal(key, (5,)) * step

    assert kinds(jax, turns, typed=typed, fixed=(0,)) == ["turns"]
    assert not kinds(jax, folded, typed=typed, fixed=(0,))
    assert kinds(jax, made_inside, typed=typed) == ["steps"]
    assert kinds(jax, given, typed=typed, fixed=(0,)) == ["steps given"]
    # A projection that stays is of no batch's size.
    assert not kinds(jax, projection, typed=typed, fixed=(0,))


def test_replicas_that_draw_alike_do_so_in_each_step_where_the_key_stays(jax: Any) -> None:
    spec = jax.sharding.PartitionSpec

    def noisy(key: Any, x: Any) -> Any:
        return x * jax.random.normal(key, (ROWS,))

    shared = jax.shard_map(
        noisy,
        mesh=jax.sharding.Mesh(jax.devices()[:1], ("data",)),
        in_specs=(spec(), spec("data")),
        out_specs=spec("data"),
    )
    given = jax.random.key(0), jax.numpy.ones((ROWS,))
    found = RandomKeys(jax.jit(shared).trace(*given).jaxpr.jaxpr)
    for fixed in (frozenset((0,)), frozenset[int]()):
        (same,) = found.same(ROWS, 2, fixed, frozenset((0,)))
        assert (same.kind, same.each_step) == ("replicas", bool(fixed))
