"""The batch of a step that is not the first dimension of what it gets."""

# pyright: reportUnknownLambdaType=false
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, cast

import pytest

from tests.checks.rehearsal import SHARD, STATE, examine, of_jax
from tpudiag.sources.job.jax.jitted import Jitted, Record, StepCall
from tpudiag.sources.job.jax.programs import made_in
from tpudiag.sources.job.jax.step import TracedStep

pytestmark = pytest.mark.slow
EXAMPLES, BATCH, TIMES, WIDTH = 5000, 32, 20, 10
Step = Callable[..., Any]


def trained(jax: Any, w: Any, x: Any, y: Any) -> Any:
    return w - jax.grad(lambda w: jax.numpy.mean((x @ w - y) ** 2))(w)


def drawn(jax: Any, w: Any, x: Any, y: Any) -> Any:
    chosen = jax.random.choice(jax.random.key(0), EXAMPLES, (BATCH,))
    return trained(jax, w, x[chosen], y[chosen])


def cut(jax: Any, w: Any, x: Any, y: Any) -> Any:
    return trained(jax, w, *(jax.lax.dynamic_slice_in_dim(a, 7, BATCH) for a in (x, y)))


def one_state(jax: Any, w: Any, x: Any, y: Any) -> Any:
    """A recurrent network, along its first dimension."""

    def loss(w: Any) -> Any:
        def turn(h: Any, part: Any) -> Any:
            h = jax.numpy.tanh(part @ w + h)
            return h, h

        return jax.numpy.mean((jax.lax.scan(turn, 0 * y[0], x)[1] - y) ** 2)

    return w - jax.grad(loss)(w)


def accumulated(jax: Any, w: Any, x: Any, y: Any) -> Any:
    def turn(total: Any, part: Any) -> Any:
        return total + trained(jax, w, *part), None

    return jax.lax.scan(turn, 0 * w, (x, y))[0]


@pytest.mark.parametrize("drawn", [False, True])
def test_a_batch_is_shared_out_as_it_is_advised(jax: Any, *, drawn: bool) -> None:
    signals = of_jax(replace(STATE, devices=1), SHARD, devices=1, makes_batch=drawn)
    fix = compile(examine(signals, "TPU702").findings[0].fix, "fix", "exec")
    of = jax.sharding
    own = {"Mesh": of.Mesh, "NamedSharding": of.NamedSharding, "P": of.PartitionSpec}

    def step(w: Any, x: Any) -> Any:
        exec(fix, given := {"jax": jax, "batch": x, **own})
        return trained(jax, w, given["batch"], x)

    size = jax.numpy.ones((BATCH, WIDTH))
    assert jax.jit(step)(size[:WIDTH], size).shape == (WIDTH, WIDTH)


@pytest.mark.parametrize(
    ("step", "lead", "batch"),
    [
        (trained, (BATCH,), BATCH),
        (drawn, (EXAMPLES,), BATCH),
        (cut, (EXAMPLES,), BATCH),
        (one_state, (TIMES, BATCH), BATCH),
        (accumulated, (4, BATCH), 4 * BATCH),
    ],
)
def test_what_the_step_makes_of_its_data(jax: Any, step: Step, lead: Any, batch: int) -> None:
    shapes = ((WIDTH, WIDTH), (*lead, WIDTH), (*lead, WIDTH))
    given = tuple(jax.ShapeDtypeStruct(shape, "float32") for shape in shapes)
    own = partial(step, jax)
    record = Record("step", None)
    jitted = Jitted(jax.jit(own), own, cast("Any", None), record)
    traced = TracedStep(jax, StepCall(jitted, record, (given, {}), frozenset(("[0][0]",))))
    found = traced.batch()
    assert found is not None
    assert found.global_batch == batch
    assert traced.makes_batch == (step in (drawn, cut))
    assert traced.work is traced.work, "added up once"
    made = (any(made_in(s.equation, at) for s in traced.seen) for at in (__file__, "/keras"))
    assert [*made] == [True, False]
