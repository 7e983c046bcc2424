"""What the equations of a step tell before it runs."""

# pyright: reportUnknownLambdaType=false
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.checks.rehearsal import SHARD
from tpudiag.sources.job.jax.devices_in_use import gathered, idle_axes, placed
from tpudiag.sources.job.jax.equations import Equations, live_bytes, product
from tpudiag.sources.job.jax.programs import carried, scope

pytestmark = pytest.mark.slow
WIDTH, ROWS, TURNS = 64, 128, 8
STATE = frozenset((0,))


def loss(w: Any, x: Any) -> Any:
    return ((x @ w) ** 2).mean()


def program(jax: Any, step: Any, *shapes: tuple[int, ...]) -> Any:
    given = [jax.ShapeDtypeStruct(shape, "float32") for shape in shapes]
    return jax.make_jaxpr(step)(*given).jaxpr


def test_the_transformations_around_what_has_no_scope() -> None:
    class Stack:
        stack = SimpleNamespace(name="transpose"), SimpleNamespace(name="jvp")

        def __str__(self) -> str:
            return ""  # as JAX 0.4.35 writes it

    equation: Any = SimpleNamespace(source_info=SimpleNamespace(name_stack=Stack()))
    assert scope(equation) == "transpose(jvp())"


def test_which_loops_are_of_training_steps(jax: Any) -> None:
    def trained(w: Any, xs: Any) -> Any:
        return jax.lax.scan(lambda w, x: (w - jax.grad(loss)(w, x), loss(w, x)), w, xs)

    def summed(w: Any, xs: Any) -> Any:
        return w - jax.lax.scan(lambda g, x: (g + jax.grad(loss)(w, x), None), 0 * w, xs)[0]

    def layers(w: Any, x: Any) -> Any:
        return w - jax.grad(lambda w: jax.lax.scan(lambda x, w: (x @ w, None), x, w)[0].sum())(w)

    one, batches, deep = (WIDTH, WIDTH), (TURNS, ROWS, WIDTH), (TURNS, WIDTH, WIDTH)
    found = Equations(program(jax, jax.jit(trained), one, batches), STATE)
    assert (found.steps, found.shared_out) == (TURNS, frozenset((1,)))
    found = Equations(program(jax, summed, one, batches), STATE)
    assert (found.steps, found.shared_out) == (1, frozenset[int]())
    assert Equations(program(jax, layers, deep, (ROWS, WIDTH)), STATE).steps == 1


def test_what_a_loop_carries_is_told_whatever_a_release_calls_it(jax: Any) -> None:
    def scanned(w: Any, xs: Any) -> Any:
        return jax.lax.scan(lambda c, x: ((c[0] @ w, c[1] + 1), x[0] + x[1]), (w, 0.0), (xs, xs))

    def is_less(c: Any, xs: Any) -> Any:
        return c.sum() < xs.sum()

    def until(w: Any, xs: Any) -> Any:
        return jax.lax.while_loop(lambda c: is_less(c, xs), lambda c: c @ w + w, w)

    for step, told in ((scanned, (1, 3)), (until, (2, 3))):
        made = program(jax, step, (WIDTH, WIDTH), (TURNS, WIDTH, WIDTH))
        loop = next(each for each in made.eqns if str(each.primitive) in ("scan", "while"))
        programs = {key: each for key, each in loop.params.items() if "jaxpr" in key}
        bare: Any = SimpleNamespace(
            invars=loop.invars, outvars=loop.outvars, primitive=loop.primitive, params=programs
        )
        assert carried(bare) == told


def test_what_is_computed_again_on_request_is_told(jax: Any) -> None:
    def of_twice(w: Any, x: Any) -> Any:
        return loss(w, x * 2)

    step = jax.grad(jax.checkpoint(of_twice))
    found = Equations(program(jax, step, (WIDTH, WIDTH), (ROWS, WIDTH)), STATE)
    products = [(each, product(each.equation)) for each in found.seen]
    flops = {each.again: size.flops for each, size in products if size is not None}
    assert flops[True] == 2 * ROWS * WIDTH * WIDTH


@pytest.mark.parametrize("widths", [(3, WIDTH), (WIDTH, 3)])
def test_weights_that_come_first_leave_the_rows_to_the_batch(
    jax: Any, widths: tuple[int, int]
) -> None:
    def outputs(w: Any, x: Any) -> Any:
        return jax.vmap(w.__matmul__)(x)

    made = program(jax, outputs, widths, (ROWS, widths[1]))
    (sizes,) = filter(None, (product(each.equation, ROWS) for each in Equations(made, STATE).seen))
    assert (sizes.rows, sizes.contraction, sizes.columns) == (ROWS, *reversed(widths))


def test_what_a_shard_map_takes_lies_where_it_wants_it(jax: Any) -> None:
    mesh, spec = jax.sharding.AbstractMesh((8,), ("data",)), jax.sharding.PartitionSpec
    places = {"in_specs": (spec("data"), spec()), "out_specs": spec("data")}
    step = jax.jit(jax.shard_map(jax.numpy.matmul, mesh=mesh, **places, check_vma=False))
    found = Equations(program(jax, step, (ROWS, 8), (8, ROWS)), STATE)
    assert placed(None, found.mapped[0], (ROWS, 8)) == (8, (ROWS // 8, 8), ("data",))
    assert placed(None, found.mapped[1], (8, ROWS)) == (8, (8, ROWS), ())


def test_data_that_a_shard_map_gathers_are_whole_on_each_device(jax: Any) -> None:
    def towers(w: Any, x: Any) -> Any:
        return jax.lax.all_gather(x, "data", tiled=True) @ w

    mesh, spec = jax.sharding.AbstractMesh((8,), ("data",)), jax.sharding.PartitionSpec
    places = {"in_specs": (spec(), spec("data")), "out_specs": spec()}
    step = jax.jit(jax.shard_map(towers, mesh=mesh, **places, check_vma=False))
    seen = Equations(program(jax, step, (WIDTH, WIDTH), (ROWS, WIDTH)), STATE).gathered
    data, labels = replace(SHARD, name="x"), replace(SHARD, name="y", bytes=1 << 30)
    found = gathered([(data, each) for n, each in seen.items() if n == 1], [data])
    assert found is not None and found[0] == "x"
    assert gathered([(data, each) for each in seen.values()], [data, labels]) is None


def test_releases_that_name_the_axes_of_each_dimension_are_read_alike() -> None:
    of_eight = SimpleNamespace(size=8, shape={"data": 4, "model": 2})
    told = of_eight, {1: ("data", "model")}
    assert placed(None, told, (3, ROWS)) == (8, (3, ROWS // 8), ("data", "model"))
    assert placed(None, None, (3, ROWS)) == (1, (3, ROWS), ())


@pytest.mark.parametrize(("axis", "idle"), [("data", ()), (None, (("batch", 8),))])
def test_devices_that_another_mesh_shares_the_step_over_are_not_idle(
    axis: str | None, idle: tuple[tuple[str, int], ...]
) -> None:
    mesh = SimpleNamespace(axis_names=("batch",), devices=SimpleNamespace(shape=(8,)), size=8)
    weights: Any = SimpleNamespace(sharding=SimpleNamespace(mesh=mesh, spec=()))
    tree = SimpleNamespace(tree_leaves=lambda _: [weights])
    call: Any = SimpleNamespace(arguments=(), jitted=SimpleNamespace(out_shardings=None))
    own: Any = SimpleNamespace(equation=SimpleNamespace(params={"in_specs": ((axis,),)}))
    assert idle_axes(SimpleNamespace(tree_util=tree), call, [own]) == idle


def test_what_lives_at_once_is_less_than_all_that_is_made(jax: Any) -> None:
    def double(x: Any) -> Any:
        return x * 2

    def step(x: Any) -> Any:
        for _ in range(10):
            x = jax.jit(double)(x)
        return x

    assert live_bytes(program(jax, step, (256, 1024))) == 2 * 2**20


def test_what_runs_only_where_a_condition_holds_is_in_a_branch(jax: Any) -> None:
    def told(x: Any) -> None:
        jax.debug.print("{}", x)

    def step(x: Any) -> Any:
        told(x)
        jax.lax.cond(x > 0, told, lambda _: None, x)
        return x

    seen = Equations(jax.jit(step).trace(1.0).jaxpr.jaxpr, frozenset()).seen
    calls = [each.place.branch for each in seen if "debug" in str(each.equation.primitive)]
    assert calls == [False, True]


@pytest.mark.parametrize(("trained", "fixed"), [(False, True), (True, False)])
def test_weights_that_a_program_holds_and_never_trains(
    jax: Any, *, trained: bool, fixed: bool
) -> None:
    closed = jax.numpy.ones((4, 5))

    def step(weights: Any, x: Any) -> Any:
        def loss(weights: Any, layer: Any) -> Any:
            return (((x @ weights) @ layer.astype("bfloat16")) ** 2).mean()

        return jax.grad(loss, (0, 1) if trained else 0)(weights, closed)

    jaxpr = jax.jit(step).trace(jax.numpy.ones((3, 4)), jax.numpy.ones((8, 3))).jaxpr.jaxpr
    numbers = [(-id(each), (4, 5)) for each in jaxpr.constvars]
    found = Equations(jaxpr, frozenset()).fixed_factors(numbers)
    assert bool(found) is fixed
