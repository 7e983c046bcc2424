"""Which draws of a step get the same key."""

from functools import partial
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


def twice(jax: Any, key: Any, step: Any) -> Any:
    noise = jax.random.normal(key, (3,)) * step
    return noise + jax.random.uniform(key, (3,))


def split(jax: Any, key: Any, step: Any) -> Any:
    first, second = jax.random.split(key)
    third = jax.random.fold_in(second, step)
    return jax.random.normal(first, (3,)) + jax.random.normal(third, (3,))


def of_turns(jax: Any, key: Any, step: Any, *, folded: bool) -> Any:
    def turn(total: Any, x: Any) -> Any:
        own = jax.random.fold_in(key, x) if folded else key
        return total + jax.random.normal(own, (ROWS // TURNS,)).sum() * x, None

    return jax.lax.scan(turn, 0.0, jax.numpy.arange(TURNS) * step)[0]


def made_inside(jax: Any, _key: Any, step: Any) -> Any:
    return jax.random.normal(jax.random.PRNGKey(7), (ROWS,)) * step


def given(jax: Any, key: Any, step: Any, rows: int = ROWS) -> Any:
    return jax.random.normal(key, (rows,)) * step


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("step", "fixed", "kind"),
    [
        (twice, (), "twice"),
        (split, (), ""),
        (partial(of_turns, folded=False), (0,), "turns"),
        (partial(of_turns, folded=True), (0,), ""),
        (made_inside, (), "steps"),
        (given, (0,), "steps given"),
        (partial(given, rows=5), (0,), ""),  # a projection that stays is of no batch's size
    ],
)
def test_a_key_that_is_used_again(
    jax: Any, step: Any, fixed: tuple[int, ...], kind: str, typed: bool
) -> None:
    assert kinds(jax, partial(step, jax), typed=typed, fixed=fixed) == ([kind] if kind else [])


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
