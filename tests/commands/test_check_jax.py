"""Jobs of JAX: plain ones and Keras 3 on it, rehearsed on CPU devices and compiled for the TPU."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import started
from tests.sources.job.programs import printed
from tpudiag.sources.compiler.child import QUIET

pytestmark = pytest.mark.slow

OPENING = """\
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

assert len(jax.devices("tpu")) == jax.device_count() == 8
mesh = Mesh(np.array(jax.devices()), ("data",))
whole, shared = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))
rng = np.random.default_rng(0)


def loss_fn(params, x, y):
    hidden = jax.nn.relu(x @ params["in"])
    return jnp.mean((hidden @ params["out"] - y) ** 2)
"""
DISEASED = (
    OPENING
    + """
params = {"in": np.ones((5120, 4096), "float32"), "out": np.ones((4096, 1), "float32")}
params = jax.device_put(params, whole)


@partial(jax.jit, static_argnames="rate")
def train_step(params, x, y, rate):
    x = x * np.random.uniform(0.9, 1.1)
    loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - rate * g, params, gradients), loss


for step in range(40):
    x = jax.device_put(rng.random((32, 5120), "float32"), whole)
    y = jax.device_put(rng.random((32, 1), "float32"), whole)
    params, loss = train_step(params, x, y, rate=0.1 / (step + 1))
    print(step, float(loss))
"""
)
HEALTHY = (
    OPENING
    + """
params = {"in": np.ones((256, 512), "float32"), "out": np.ones((512, 128), "float32")}
params = jax.device_put(params, whole)


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    half = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    loss, gradients = jax.value_and_grad(loss_fn)(half, x.astype(jnp.bfloat16), y)
    return jax.tree.map(lambda p, g: p - 0.1 * g.astype(p.dtype), params, gradients), loss


for step in range(40):
    x = jax.device_put(rng.random((1024, 256), "float32"), shared)
    y = jax.device_put(rng.random((1024, 128), "float32"), shared)
    params, loss = train_step(params, x, y)
    if step % 20 == 0:
        print(step, float(loss))
np.savez("weights.npz", **jax.device_get(params))
open("reached", "w").close()
"""
)
KERAS = """\
import os

os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np

keras.distribution.set_distribution(keras.distribution.DataParallel())
keras.mixed_precision.set_global_policy("mixed_bfloat16")
model = keras.Sequential([keras.layers.Dense(256, activation="relu"), keras.layers.Dense(128)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(
    np.random.rand(2600, 128).astype("float32"),
    np.random.randint(0, 10, 2600),
    batch_size=1024,
    epochs=3,
    verbose=0,
)
"""
CUT = (
    OPENING.replace("return jnp.mean", "return dropped(hidden).mean() + jnp.mean")
    + """
import os

jax.config.update("jax_default_matmul_precision", "highest")
key = jax.device_put(jax.random.key(0), whole)
params = {"in": np.ones((512, 512), "float32"), "out": np.ones((512, 128), "float32")}
params = jax.device_put(params, whole)


def dropped(x):
    return jnp.where(jax.random.bernoulli(given, 0.8, x.shape), x, 0)


@partial(jax.jit, donate_argnums=0)
@partial(
    jax.shard_map, mesh=mesh, in_specs=(P(), P(), P("data"), P("data")), out_specs=P(),
    check_vma=False,
)
def train_step(params, key, x, y):
    global given
    given = key
    loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
    gradients = jax.lax.psum(gradients, "data")
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), jax.lax.pmean(loss, "data")


for step in range(STEPS):
    x, y = (jax.device_put(np.ones((1024, n), "float32"), shared) for n in (512, 128))
    params, loss = train_step(params, key, x, y)
os.kill(os.getpid(), 9)
"""
)
TOO_LARGE = (
    OPENING
    + """
table = jax.device_put(np.ones((8, 512), "float32"), whole)


@partial(jax.jit, donate_argnums=0)
def train_step(table, tokens):
    def loss(table):
        x = table[tokens]
        return jax.nn.softmax(x @ x.mT).sum()
    loss, gradients = jax.value_and_grad(loss)(table)
    return table - gradients, loss


while True:
    table, loss = train_step(table, jax.device_put(np.ones((512, 8192), "int32"), shared))
"""
)
POD = (
    OPENING.replace(" == 8", " == 16")
    .replace("mesh = Mesh", "jax.distributed.initialize()\nmesh = Mesh")
    .replace('jax.devices()), ("data",)', 'jax.devices()).reshape(4, 4), ("data", "model")')
    + """
import orbax.checkpoint as ocp
import tensorflow as tf

manager = ocp.CheckpointManager("/tmp/job")
data = tf.data.Dataset.from_tensor_slices(rng.random((640, 512), "float32"))
data = data.map(lambda x: (x, x[:1])).batch(64, drop_remainder=True).repeat()
params = {"in": np.ones((512, 512), "float32"), "out": np.ones((512, 1), "float32")}
params = jax.device_put(params, NamedSharding(mesh, P("model")))


@partial(jax.jit, donate_argnums=0)
def train_step(params, x, y):
    loss, gradients = jax.value_and_grad(loss_fn)(params, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), loss


for step, (x, y) in enumerate(data.take(40).as_numpy_iterator()):
    params, loss = train_step(params, *jax.device_put((x, y), shared))
    manager.save(step, jax.device_get(params))
"""
)
ORBAX = """\
class CheckpointManager:
    def __init__(self, directory):
        self.directory = directory

    def save(self, step, state):
        return True


class Checkpointer:
    def save(self, directory, state):
        pass


class AsyncCheckpointer(Checkpointer):
    pass
"""
HAND = """\
import runpy
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental import topologies
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

devices = topologies.get_topology_desc("v5e:2x4", "tpu").devices
mesh = Mesh(np.array(devices), ("data",))
whole, shared = NamedSharding(mesh, P()), NamedSharding(mesh, P("data"))


def spec(shape, place, dtype=jnp.float32):
    return jax.ShapeDtypeStruct(shape, dtype, sharding=place)


"""
PLAIN_BY_HAND = """\
text = open(sys.argv[1]).read()
begin, end = text.index("def loss_fn"), text.index("\\n\\n\\nfor step")
body = text[begin:end].replace("params = jax.device_put(params, whole)", "")
exec(compile(body, "body", "exec"), globals())
given = {"in": spec((256, 512), whole), "out": spec((512, 128), whole)}
made = train_step.lower(given, spec((1024, 256), shared), spec((1024, 128), shared))
"""
KERAS_BY_HAND = """\
model = runpy.run_path(sys.argv[1])["model"]
kinds = model.trainable_variables, model.non_trainable_variables, model.optimizer.variables
state = tuple([v.value for v in each] for each in (*kinds, model.metrics_variables))
state = jax.tree.map(lambda a: spec(a.shape, whole, a.dtype), state)
data = spec((1024, 128), shared), spec((1024,), shared, jnp.int32)
places = None, jax.tree.map(lambda a: a.sharding, state)
made = jax.jit(model.train_step, donate_argnums=0, out_shardings=places).lower(state, data)
"""
BYTES = """
memory = made.compile().memory_analysis()
print("bytes", memory.argument_size_in_bytes + memory.output_size_in_bytes
      - memory.alias_size_in_bytes + memory.temp_size_in_bytes
      + memory.generated_code_size_in_bytes)
"""

AS_ITS_CHILD = {
    "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
    "LIBTPU_INIT_ARGS": "--xla_jf_lsra_v2_verifier=false --xla_jf_critical_path_scheduler=false",
}


def ran(folder: Path, text: str, *arguments: str, **variables: str) -> Any:
    """What a verb makes of a script."""
    (folder / "train.py").write_text(text)
    return started(*arguments, cwd=folder, env=variables)


def checked(folder: Path, text: str, *options: str, **variables: str) -> dict[str, Any]:
    """The report on a script."""
    asked = "check", "train.py", "--for", "v5e-8", "--format", "json"
    done = ran(folder, text, *asked, *options, **variables)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


def findings(report: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The first finding of each check that failed, but for what is said as info."""
    return {
        outcome["id"]: outcome["findings"][0]
        for outcome in report["outcomes"]
        if outcome["verdict"] == "failed" and outcome["severity"] != "info"
    }


def test_what_ails_a_plain_job_is_named_with_its_line(tmp_path: Path) -> None:
    found = findings(checked(tmp_path, DISEASED, "--no-compile"))
    lines = DISEASED.splitlines()

    def line(id_: str) -> str:
        number: int = found[id_]["location"]["line"]
        return lines[number - 1]

    assert "rate changed (python value)" in found["TPU101"]["message"]
    assert line("TPU101").strip().startswith("params, loss = train_step(")
    assert "np.random.uniform" in line("TPU107")
    assert "float(loss)" in line("TPU108")
    assert "donate_argnames=('params',)" in found["TPU701"]["fix"]
    assert "each of 8 devices computes the whole batch" in found["TPU702"]["message"]
    assert "x = jax.device_put(" in line("TPU702")
    assert set(found) == {"TPU101", "TPU107", "TPU108", "TPU701", "TPU702"}
    assert not any("tf." in each["fix"] for each in found.values())


@pytest.mark.parametrize("steps", [1, 4])
def test_a_job_that_dies_is_judged_by_the_steps_that_it_made(tmp_path: Path, steps: int) -> None:
    text = CUT.replace("STEPS", str(steps))
    report = checked(tmp_path, text)
    found, lines = findings(report), text.splitlines()
    assert "8 times what it should be" in found["TPU502"]["message"]
    assert "psum(gradients" in lines[found["TPU502"]["location"]["line"] - 1]
    assert "6 passes" in found["TPU403"]["message"]
    assert "all 8 replicas draw the same 128 x 512" in found["TPU511"]["message"]
    assert set(found) - {"TPU605"} == {"TPU403", "TPU502", "TPU511"}
    # The program is written once it is known what goes from one step to the next.
    assert ("hbm_need_bytes" in report["measurements"]) == (steps > 1)


def test_a_ragged_last_batch_of_fit_is_a_compilation(tmp_path: Path) -> None:
    (tmp_path / "none").mkdir()
    (tmp_path / "none" / "tensorflow.py").write_text("raise ImportError('no TensorFlow here')")
    report = checked(tmp_path, KERAS, "--no-compile", PYTHONPATH=str(tmp_path / "none"))
    found = findings(report)
    assert set(found) == {"TPU101"}
    assert (
        "data[0] changed (shape): float32[1024,128] -> float32[552,128]"
        in (found["TPU101"]["message"])
    )
    assert "model.fit(" in KERAS.splitlines()[found["TPU101"]["location"]["line"] - 1]
    assert "BackupAndRestore" in str(report), "a callback of fit: there is one"


AVERAGES = """
import jax, numpy as np
from functools import partial


@partial(jax.pmap, axis_name="data")
def train_step(weights, mean, x):
    def loss(weights):
        out = x @ weights
        return (out**2).mean(), 0.9 * mean + 0.1 * out.mean(0)

    gradients, mean = jax.grad(loss, has_aux=True)(weights)
    return weights - 0.1 * jax.lax.pmean(gradients, "data"), mean


together = jax.pmap(lambda mean: jax.lax.pmean(mean, "data"), axis_name="data")
rng, n = np.random.default_rng(0), jax.device_count()
weights, mean = np.ones((n, 64, 32), "float32"), np.zeros((n, 32), "float32")
for step in range(60):
    weights, mean = train_step(weights, mean, rng.random((n, 8, 64), "float32"))
    if step % 40 == 39:
        mean = together(mean)
"""


@pytest.mark.parametrize("joined", [True, False])
def test_state_that_is_brought_together_past_the_steps(tmp_path: Path, *, joined: bool) -> None:
    job = AVERAGES if joined else AVERAGES.replace("mean = together(mean)", "pass")
    assert ("TPU512" not in findings(checked(tmp_path, job, "--no-compile"))) == joined


MOMENTUM = """
import jax, jax.numpy as jnp, numpy as np


@jax.jit
def train_step(weights, moment, x):
    gradients = jax.grad(lambda weights: ((x @ weights) ** 2).mean())(weights)
    moment = 0.9 * moment + gradients
    return weights - 0.1 * moment, moment


rng, weights, moment = np.random.default_rng(0), jnp.ones((64, 8)), jnp.zeros((64, 8))
for step in range(8):
    KEPT = train_step(weights, moment, rng.random((256, 64), "float32"))
"""


ANEW = "if step % {} == 0:\n        moment = jnp.zeros((64, 8))\n    weights, moment"


@pytest.mark.parametrize(
    ("kept", "lost"),
    [
        ("timed", False),
        (ANEW.format(3), True),  # in each epoch
        (ANEW.format(5), False),  # for a second phase
    ],
)
def test_an_optimizers_state_that_the_loop_drops(tmp_path: Path, kept: str, *, lost: bool) -> None:
    found = findings(checked(tmp_path, MOMENTUM.replace("KEPT", kept), "--no-compile"))
    assert ("TPU518" in found) == lost


def test_a_step_that_is_compiled_ahead_is_seen(tmp_path: Path) -> None:
    job = DISEASED.replace('@partial(jax.jit, static_argnames="rate")', "@jax.jit")
    job = (
        job.replace("5120", "512")
        .replace(
            'y = jax.device_put(rng.random((32, 1), "float32"), whole)', "y = rng.random((32, 1))"
        )
        .replace("for step", "ahead = None\nfor step")
    )
    ahead = "ahead = ahead or train_step.lower(params, x, y, 0.1).compile()"
    job = job.replace("params, loss = train_step(", f"{ahead}\n    params, loss = ahead(")
    found = findings(checked(tmp_path, job.replace("rate=0.1 / (step + 1)", "0.1"), "--no-compile"))
    assert "TPU108" in found and "TPU101" not in found
    assert "float64" not in str(found), "with its 64-bit mode off JAX takes it as float32"


@pytest.mark.parametrize(
    ("job", "hand"), [(HEALTHY, PLAIN_BY_HAND), (KERAS.replace("2600", "2048"), KERAS_BY_HAND)]
)
def test_a_healthy_step_takes_the_bytes_that_the_compiler_says_by_hand(
    tmp_path: Path, job: str, hand: str
) -> None:
    report = checked(tmp_path, job)
    assert findings(report) == {}
    if job is HEALTHY:
        # Of 40 steps 22 are observed; the others are answered, and the script comes to its end.
        assert any("Training functions: train_step" in note for note in report["notes"])
        assert any(name.endswith("reached") for name in report["writes"]["names"])
    as_its_child = os.environ | QUIET | AS_ITS_CHILD
    by_hand = printed(HAND + hand + BYTES, "train.py", cwd=tmp_path, env=as_its_child)
    need = report["measurements"]["hbm_need_bytes"]["value"]
    assert need == int(by_hand.split()[1])


def test_a_step_too_large_for_this_machine_is_read_and_compiled(tmp_path: Path) -> None:
    report = checked(tmp_path, TOO_LARGE)
    assert any("and not run: a step of" in note for note in report["notes"])
    assert "TPU301" in findings(report)


def test_one_of_several_processes_that_reads_by_tf_data_and_saves_each_step(tmp_path: Path) -> None:
    (tmp_path / "orbax").mkdir()
    (tmp_path / "orbax" / "checkpoint.py").write_text(ORBAX)
    report = checked(tmp_path, POD, "--no-compile", "--for", "v5e-16")
    found = findings(report)
    assert any("one of several processes" in note for note in report["notes"])
    assert {"TPU208", "TPU602"} <= set(found)
    verdicts = {o["id"]: o["verdict"] for o in report["outcomes"]}
    assert {verdicts["TPU202"], verdicts["TPU203"]} != {"skipped"}  # the pipeline was read
    fetched = next(o["findings"] for o in report["outcomes"] if o["id"] == "TPU108")
    assert any("saves a checkpoint after" in each["message"] for each in fetched)
    said = next(o["findings"] for o in report["outcomes"] if o["id"] == "TPU602")
    assert any("of arrays that the devices share" in each["message"] for each in said)
    assert "TPU705" in {o["id"] for o in report["outcomes"] if o["verdict"] == "failed"}


def test_state_is_donated_as_a_rehearsal_proves(tmp_path: Path) -> None:
    asked = "fix", "train.py", "--for", "v5e-8", "--no-compile", "--select", "TPU701,TPU108"
    done = ran(tmp_path, DISEASED, *asked, "--write")
    mended = (tmp_path / "train.py").read_text()
    assert "static_argnames=\"rate\", donate_argnames=('params',)" in mended, done.stdout
    assert "if step % 100 == 0:" in mended


def test_a_plan_compiles_the_step_for_each_number_of_devices(tmp_path: Path) -> None:
    asked = "plan", "train.py", "--for", "v5e-8,v5e-4", "--batch", "128,256", "-o", "p.json"
    cache = str(tmp_path / "cache")
    done = ran(tmp_path, HEALTHY.replace(" == 8", " > 1"), *asked, TPUDIAG_CACHE=cache)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "p.json").read_text())["tables"][0]["rows"]
    assert {(row[0], str(row[1])) for row in rows} >= {
        (target, batch) for target in ("v5e-8", "v5e-4") for batch in ("128", "256")
    }
