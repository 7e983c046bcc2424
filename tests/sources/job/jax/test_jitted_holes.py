"""What a jitted function is given in the place of holes."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from tests.sources.job.programs import ran
from tpudiag.sources.job.jax import jitted_holes
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, batched

np = pytest.importorskip("numpy")


def filled(traces: Callable[[Any, Any], bool], *args: object) -> Any:
    """What it gives where a tree is a list."""
    jax = ModuleType("jax")
    vars(jax)["tree_util"] = SimpleNamespace(
        tree_flatten=lambda given: (list(given[0]), given),
        tree_unflatten=lambda _, leaves: (tuple(leaves), {}),
    )
    return jitted_holes.filled(jax, False, traces, args, {})


def test_a_hole_takes_the_shape_that_what_uses_it_can_be_traced_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kernel = np.ones((784, 10))
    x: Any = batched(64)
    bare: Any = Hole()

    def traces(args: Any, kwargs: Any) -> bool:
        _, x, y = args
        try:
            return not kwargs and (x @ kernel).shape == (64, 10) and y.dtype == np.int32
        except ValueError:
            return False

    given = filled(traces, kernel, x, batched(64))
    assert given is not None and [each.shape for each in given[0][1:]] == [(64, 784), (64,)]
    for sizes in ((7, 3), (9, 3)):
        known = filled(lambda *_: True, bare.reshape(*sizes))
        assert known is not None and known[0][0].shape == sizes, "of each call its own"
    indexed: Any = Hole()[0]
    for rows in (batched(64), indexed[np.arange(64)]):
        pictures = filled(lambda args, _: args[1].shape[1:] == (28, 28), kernel, rows)
        assert pictures is not None, "flattened within"
    monkeypatch.setattr(jitted_holes, "_examples", [np.ones((1, 9, 9, 3))])
    shapes: list[tuple[int, ...]] = [(64, 9, 9, 3), (64, 9, 9)]
    x, y = batched(64), Hole()
    assert filled(lambda args, _: [each.shape for each in args] == shapes, x, y), "of pixels"
    monkeypatch.setattr(jitted_holes, "_examples", [])
    filters = np.ones((3, 3, 1, 16)), np.ones((1, 1, 16, 4))
    for label in ((64, 32, 32), (64, 32, 32, 4)):  # of pixels that only weights tell of
        shapes[:] = [(64, 32, 32, 1), label]
        assert filled(lambda args, _: [each.shape for each in args[2:]] == shapes, *filters, x, y)
    assert filled(lambda *_: True, kernel) is None
    assert filled(lambda *_: False, kernel, bare) is None


PROGRAM = """
import json, sys, types
import jax, jax.numpy as jnp
from tpudiag.sources.job.jax.jit_watch import JitWatch
from tpudiag.sources.job.points import barrier
from tpudiag.sources.job.jax import jitted_holes
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, batched
from functools import partial

class Module:
    def init(self, x):
        return jnp.ones((x.shape[3], 3))

sys.modules["flax"] = flax = sys.modules["flax.linen"] = types.SimpleNamespace(Module=Module)
flax.linen = flax
watch = JitWatch(lambda eager: None)
watch.watch(jax)
watch.fills = partial(jitted_holes.filled, jax)
jitted_holes.watch(jax)
jitted_holes.fill_modules(flax)

def step(w, x, y):
    def loss(w):
        scores = (x.mean((1, 2)) if x.ndim > 2 else x) @ w
        return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), y[:, None], 1))
    return w - jax.grad(loss)(w), x

jitted = jax.jit(step, out_shardings=Hole())
for batch in (4, 8):  # sizes of what stands in for data
    w, _ = jitted(jnp.ones((12, 3)), batched(batch), batched(batch))
made = Module().init(batched(4))
two = jnp.concatenate([jnp.array([Hole(), Hole()])])
jnp.zeros((1, 5, 7, 12))  # as a script makes one to give a model its weights by
mesh = jax.sharding.Mesh(jax.devices(), ("data",))
sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("data"))
x, y = jax.device_put((jnp.array(batched(8)).T, batched(8)), sharding)
_, x = jax.jit(step)(jnp.ones((12, 3)), x, jnp.array(y, "int32"))
def is_array(x):
    return isinstance(x, jax.Array)

assert is_array(Hole()) and not isinstance(Hole(), jax.Array)  # to libraries, not to JAX
_, of_each = jax.pmap(step)(jnp.ones((2, 12, 3)), batched(8), batched(8))
assert not barrier.defects() and not any(r.retraces for r in watch.records.values())
said = two.shape[0], made.shape, x.shape, x.sharding == sharding, of_each.shape
ours = [each.hook for each in barrier.defects()]
print(json.dumps([w.shape, [r.trains for r in watch.records.values()], *said, ours]))
"""


FITTED = """
import os, json, tempfile
import numpy as np
os.environ["KERAS_BACKEND"] = "jax"
import keras
from tpudiag.sources.job.tensorflow.fake_data.model_holes import fill_models
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, batched
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

fill_models(keras, Ledger(tempfile.mkdtemp(), lambda **_: None))
model = keras.Sequential([keras.Input((7, 1)), keras.layers.Flatten(), keras.layers.Dense(3)])
model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x, y = Hole(), Hole()[0][0]
history = model.fit(x, y, 64, validation_split=0.2, verbose=0).history
steps = int(model.optimizer.iterations)
model.fit(batched(16), steps_per_epoch=9, verbose=0)
model.fit(np.ones((40, 7, 1)), y, 20, verbose=0)
steps = steps, int(model.optimizer.iterations)
seen = model.predict(Hole(), verbose=0).shape
print(json.dumps([sorted(history), steps, seen[1:], model.evaluate(batched(8), verbose=0) >= 0]))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "said"),
    [
        (PROGRAM, [[12, 3], [True] * 3, 2, [3, 3], [8, 5, 7, 12], True, [2, 4, 5, 7, 12], []]),
        (FITTED, [["loss", "val_loss"], [37, 189], [3], True]),
    ],
)
def test_a_step_is_traced_and_run_with_them(program: str, said: object, tmp_path: Path) -> None:
    pytest.importorskip("jax")
    (tmp_path / "job.py").write_text(program)
    two = {"XLA_FLAGS": "--xla_force_host_platform_device_count=2", "PYTHONPATH": "."}
    done = ran(sys.executable, str(tmp_path / "job.py"), env=os.environ | two)
    assert json.loads(done.stdout.splitlines()[-1]) == said
