"""What a jitted function is given in the place of holes."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from tpudiag.sources.job.points import Args, Kwargs
from tpudiag.sources.job.tensorflow.fake_data import jitted_holes
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, batched

np = pytest.importorskip("numpy")


class Trees:
    """JAX, as far as it takes lists apart."""

    class tree_util:
        """Its trees."""

        tree_flatten = staticmethod(lambda given: ([*given[0], *given[1].values()], given))
        tree_unflatten = staticmethod(lambda _, leaves: (tuple(leaves), {}))


def test_a_hole_takes_the_shape_that_what_uses_it_can_be_traced_with() -> None:
    kernel = np.ones((784, 10))
    x: Any = batched(64)

    def traces(args: Args, kwargs: Kwargs) -> bool:
        _, x, y = args
        try:
            return not kwargs and (x @ kernel).shape == (64, 10) and y.dtype == np.int32
        except ValueError:
            return False

    given = jitted_holes.filled(Trees, traces, (kernel, x, batched(64)), {})
    assert given is not None and [each.shape for each in given[0][1:]] == [(64, 784), (64,)]
    known = jitted_holes.filled(Trees, lambda *_: True, (Hole().reshape(7, 3),), {})
    assert known is not None and known[0][0].shape == (7, 3)
    assert jitted_holes.filled(Trees, lambda *_: True, (kernel,), {}) is None
    assert jitted_holes.filled(Trees, lambda *_: False, (kernel, Hole()), {}) is None


PROGRAM = """
import json
import jax, jax.numpy as jnp
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.tensorflow.fake_data import jitted_holes
from tpudiag.sources.job.tensorflow.fake_data.holes import batched
from functools import partial

watch = JitWatch(lambda eager: None)
watch.watch(jax)
watch.fills = partial(jitted_holes.filled, jax)

@jax.jit
def step(w, x, y):
    def loss(w):
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(x @ w), y[:, None], 1))
    return w - jax.grad(loss)(w)

w = step(jnp.ones((12, 3)), batched(8), batched(8))
print(json.dumps([w.shape, [r.trains for r in watch.records.values()]]))
"""


@pytest.mark.slow
def test_a_step_is_traced_and_run_with_them() -> None:
    pytest.importorskip("jax")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=200
    )
    assert json.loads(done.stdout.splitlines()[-1]) == [[12, 3], [True]]
