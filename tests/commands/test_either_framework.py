"""The same model under TPUStrategy and under Keras on JAX: what ails it is found under both."""

from pathlib import Path

import pytest

from tests.commands.test_check_jax import checked

pytestmark = pytest.mark.slow

JOB = """\
import contextlib
import keras
import numpy as np
import tensorflow as tf

of_jax = keras.backend.backend() == "jax"
scope = contextlib.nullcontext()
if of_jax:
    import jax

    keras.distribution.set_distribution(keras.distribution.DataParallel())
else:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver()
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    scope = strategy.scope()
keras.mixed_precision.set_global_policy("mixed_bfloat16")
table = np.random.rand(2**15, 128).astype("float32")


class Own(keras.layers.Layer):
    def call(self, x):
        return x


x = np.random.rand(10240, 128).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x))
data = data.cache().shuffle(10240).batch(1024, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
with scope:
    layers = [keras.layers.Dense(256, activation="relu") for _ in range(2)]
    model = keras.Sequential([*layers, Own(), keras.layers.Dense(128)])
    model.compile("adam", "mse")
saves = keras.callbacks.BackupAndRestore("backup")
model.fit(data, epochs=3, verbose=0, callbacks=[saves])
"""
LOOP = (
    JOB.partition("table =")[0]
    + """
x = np.random.rand(65536, 128).astype("float32")
data = tf.data.Dataset.from_tensor_slices((x, x)).shuffle(10240).cache()
data = data.batch(1024, drop_remainder=True).repeat(2)
with scope:
    layers = keras.layers.Dense(256, activation="relu"), keras.layers.Dense(128)
    model = keras.Sequential([keras.Input((128,)), *layers])
    optimizer = keras.optimizers.SGD(0.1)


def of_replica(y, out):
    return keras.ops.mean(keras.ops.square(y - keras.ops.cast(out, "float32")))


if of_jax:
    from functools import partial
    from jax.sharding import Mesh, PartitionSpec as P

    def noisy_loss(weights, x, y, key):
        out, _ = model.stateless_call(weights, [], x + jax.random.normal(key, x.shape))
        return of_replica(y, out)

    places = (P(), P("data"), P("data"), P())

    @jax.jit
    @partial(
        jax.shard_map,
        mesh=Mesh(np.array(jax.devices()), ("data",)),
        in_specs=places,
        out_specs=P(),
        check_vma=False,
    )
    def update(weights, x, y, key):
        loss, gradients = jax.value_and_grad(noisy_loss)(weights, x, y, key)
        gradients = jax.lax.psum(gradients, "data")
        new = [w - 0.1 * g for w, g in zip(weights, gradients)]
        return new, jax.lax.pmean(loss, "data")

    weights = [variable.value for variable in model.trainable_variables]

    def train(x, y):
        global weights
        weights, loss = update(weights, x, y, jax.random.key(1))
        return loss

    data = data.as_numpy_iterator()
else:

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            noise = tf.random.stateless_normal(tf.shape(x), (1, 2))
            loss = of_replica(y, model(x + noise))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def train(x, y):
        losses = strategy.run(replica_step, args=(x, y))
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    data = strategy.experimental_distribute_dataset(data)
for x, y in data:
    print(float(train(x, y)))
"""
)
"""A loop whose fetch, cache, draws and sum of means are not as they should be."""
BATCH = ".batch(1024, drop_remainder=True)"
OWN = "        return x\n"
POLICY = 'keras.mixed_precision.set_global_policy("mixed_bfloat16")'
PARALLEL = "keras.distribution.set_distribution(keras.distribution.DataParallel())"
PRINTED = "        jax.debug.print('{}', x.mean()) if of_jax else tf.print(x[0, 0])\n"
Disease = tuple[str, str, str]
"""An edit of the job, and the id of what it plants."""
MODEL: tuple[Disease, ...] = (
    (OWN, PRINTED + OWN, "TPU105"),
    (OWN, "        x = x + keras.ops.cast(table, x.dtype)[0, 0]\n" + OWN, "TPU110"),
    (POLICY, "", "TPU403"),
    ("Dense(256", "Dense(200", "TPU402"),
    ('BackupAndRestore("backup")', 'ModelCheckpoint("saved.keras")', "TPU602"),
    (".cache()", ".map(lambda a, b: (a * 2, b)).cache()", "TPU203"),
    (".shuffle(10240).batch(", ".shuffle(64).batch(", "TPU214"),
    # A batch of no good size, and the last one's step is compiled anew by either.
    (BATCH, ".batch(1000)", "TPU101"),
    ("", "", "TPU401"),
    ("epochs=3,", "epochs=3, steps_per_epoch=99,", "TPU212"),
    (".prefetch(tf.data.AUTOTUNE)", "", "TPU202"),
)
UNDER_TENSORFLOW = {"TPU101": "TPU102"}
ALONE: tuple[Disease, ...] = ((PARALLEL, "pass", "TPU702"),)
PLACED = {"TPU105", "TPU110", "TPU702"}
"""Those that are of no use without the line."""
OF_LOOP = {"TPU108", "TPU204", "TPU502", "TPU511"}
"""What ails the loop and its data; nothing is saved, either."""


def planted(diseases: tuple[Disease, ...]) -> str:
    """The job with all of them."""
    text = JOB
    for before, after, _ in diseases:
        assert before in text
        text = text.replace(before, after, 1)
    return text


@pytest.mark.parametrize(
    ("diseases", "backend"),
    [
        *((each, backend) for each in ((), MODEL) for backend in ("tensorflow", "jax")),
        # Under TensorFlow a job without a strategy is tpu007_no_strategy of the corpus.
        (ALONE, "jax"),
    ],
)
def test_what_ails_a_model_is_found_under_either_framework(
    tmp_path: Path, diseases: tuple[Disease, ...], backend: str
) -> None:
    # Unmeasured: where another test has the second core, parallel calls gain nothing.
    options = ("--no-compile", "--measure-input", "0")
    report = checked(tmp_path, planted(diseases), *options, KERAS_BACKEND=backend)
    failed = {o["id"] for o in report["outcomes"] if o["verdict"] == "failed"}
    other = UNDER_TENSORFLOW if backend == "tensorflow" else {}
    wanted = {other.get(each, each) for *_, each in diseases}
    assert wanted <= failed
    placed = {o["id"] for o in report["outcomes"] for f in o["findings"] if f.get("location")}
    assert PLACED & wanted <= placed
    if not diseases:
        told = [o["id"] for o in report["outcomes"] if o["severity"] in ("warning", "error")]
        assert not set(told) & failed


@pytest.mark.parametrize("backend", ["tensorflow", "jax"])
def test_what_ails_a_loop_is_found_under_either_framework(tmp_path: Path, backend: str) -> None:
    report = checked(tmp_path, LOOP, "--no-compile", KERAS_BACKEND=backend)
    failed = {o["id"]: o["findings"][0] for o in report["outcomes"] if o["verdict"] == "failed"}
    assert failed.keys() >= OF_LOOP | {"TPU601"}
    assert all(failed[each].get("location") for each in OF_LOOP)
