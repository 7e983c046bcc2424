"""The same model under TPUStrategy and under Keras on JAX: what ails it is found under both."""

from __future__ import annotations

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
    scope = tf.distribute.TPUStrategy(resolver).scope()
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
BATCH = ".batch(1024, drop_remainder=True)"
OWN = "        return x\n"
SAVED = 'saves = keras.callbacks.BackupAndRestore("backup")\n', ", callbacks=[saves]"
SCOPE = "tf.distribute.TPUStrategy(resolver).scope()"
PARALLEL = "keras.distribution.set_distribution(keras.distribution.DataParallel())"
Edit = tuple[str, str]
Disease = tuple[tuple[Edit, ...], str, str]
"""Edits of the job, and the ids of what they plant under TensorFlow and under JAX."""
STEP: tuple[Disease, ...] = (
    (
        (
            (
                OWN,
                "        jax.debug.print('{}', x.mean()) if of_jax else tf.print(x[0, 0])\n" + OWN,
            ),
        ),
        "TPU105",
        "TPU105",
    ),
    (((OWN, "        x = x + keras.ops.cast(table, x.dtype)[0, 0]\n" + OWN),), "TPU110", "TPU110"),
)
MODEL: tuple[Disease, ...] = (
    *STEP,
    ((('keras.mixed_precision.set_global_policy("mixed_bfloat16")\n', ""),), "TPU403", "TPU403"),
    (((BATCH, ".batch(1000, drop_remainder=True)"),), "TPU401", "TPU401"),
    ((("Dense(256", "Dense(200"),), "TPU402", "TPU402"),
    (tuple((saved, "") for saved in SAVED), "TPU601", "TPU601"),
)
INPUT: tuple[Disease, ...] = (
    (
        (('BackupAndRestore("backup")', 'ModelCheckpoint("saved.keras")'),),
        "TPU602",
        "TPU602",
    ),
    (((".cache()", ".map(lambda a, b: (a * 2, b)).cache()"),), "TPU203", "TPU203"),
    (((".shuffle(10240).batch(", ".shuffle(64).batch("),), "TPU214", "TPU214"),
    # A step of another size is compiled anew by either.
    (((BATCH, ".batch(1000)"),), "TPU102", "TPU101"),
)
ALONE: tuple[Disease, ...] = (
    (((SCOPE, "contextlib.nullcontext()"), (PARALLEL, "pass")), "TPU007", "TPU702"),
)
PLACED = {"TPU105", "TPU110", "TPU702"}
"""Those that are of no use without the line."""


def planted(diseases: tuple[Disease, ...]) -> str:
    """The job with all of them."""
    text = JOB
    for edits, *_ in diseases:
        for before, after in edits:
            assert before in text
            text = text.replace(before, after, 1)
    return text


@pytest.mark.parametrize(
    ("diseases", "backend"),
    [
        *((each, backend) for each in ((), MODEL, INPUT) for backend in ("tensorflow", "jax")),
        # Under TensorFlow a job without a strategy is tpu007_no_strategy of the corpus.
        (ALONE, "jax"),
    ],
)
def test_what_ails_a_model_is_found_under_either_framework(
    tmp_path: Path, diseases: tuple[Disease, ...], backend: str
) -> None:
    report = checked(tmp_path, planted(diseases), "--no-compile", KERAS_BACKEND=backend)
    failed = {o["id"] for o in report["outcomes"] if o["verdict"] == "failed"}
    wanted = {
        of_jax if backend == "jax" else of_tensorflow for _, of_tensorflow, of_jax in diseases
    }
    assert wanted <= failed
    placed = {o["id"] for o in report["outcomes"] for f in o["findings"] if f.get("location")}
    assert PLACED & wanted <= placed
    if not diseases:
        told = [o["id"] for o in report["outcomes"] if o["severity"] in ("warning", "error")]
        assert not set(told) & failed
