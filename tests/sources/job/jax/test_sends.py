"""Where data are told to be placed."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tpudiag.sources.job.jax.sends import SendWatch
from tpudiag.sources.job.points import barrier, hooks

pytestmark = pytest.mark.slow


def test_data_are_told_by_their_sharding_or_where_others_share_it_by_what_places_them(
    jax: Any,
) -> None:
    watch, x = SendWatch(lambda: 0), jax.numpy.ones((8, 3))
    named = jax.sharding.NamedSharding
    mesh = jax.make_mesh((1,), ("data",))
    watch.watch(jax)
    own = named(mesh, jax.P())
    data = jax.device_put(x, own)
    told = watch.placed_at([x, data])
    weights = jax.device_put(jax.numpy.ones(3), own)
    shared = watch.placed_at([data])
    hooks.undo()
    lines = Path(__file__).read_text().splitlines()
    assert [lines[each.line - 1].strip() for each in (told, shared) if each and each.line] == [
        "own = named(mesh, jax.P())",
        "data = jax.device_put(x, own)",
    ]
    assert watch.placed_at([weights[1:]]) is None


def test_what_is_sent_again_is_the_same_array_with_the_same_values(jax: Any) -> None:
    barrier.forget()
    steps = iter(range(100))
    watch = SendWatch(lambda: next(steps))
    watch.watch(jax)
    table, buffer = np.ones((8, 3)), np.ones(5)
    for number in range(4):
        jax.numpy.asarray(table)
        buffer[:] = number
        jax.device_put(buffer)
        jax.device_put(np.int32(number))
        jax.device_put({"there": jax.numpy.ones(3)}, jax.devices()[0])
        with pytest.raises(TypeError):
            jax.device_put(jax.ShapeDtypeStruct((3,), "float32"))
    hooks.undo()
    assert not barrier.defects()
    assert [(each.bytes, each.steps) for each in watch.facts()] == [(192, 3)]
