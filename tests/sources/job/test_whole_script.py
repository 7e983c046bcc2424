"""Scripts that go on past the observed steps, in child processes: shortened, and to their end."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.programs import spec
from tpudiag.sources.job.process.protocol import encoded_spec
from tpudiag.sources.job.process.runner import BOOTSTRAP

pytestmark = pytest.mark.slow

HEAD = """\
import tensorflow as tf
tf.config.threading.set_intra_op_parallelism_threads(2)
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(""))
GLOBAL = 64

def data(repeated=True, n=640):
    made = tf.data.Dataset.from_tensor_slices((tf.ones((n, 4)), tf.zeros(n, tf.int32)))
    made = made.repeat() if repeated else made
    return made.batch(GLOBAL, drop_remainder=True).prefetch(2)

def build():
    return tf.keras.Sequential([tf.keras.layers.Dense(8), tf.keras.layers.Dense(3)])

with strategy.scope():
    model, optimizer = build(), tf.keras.optimizers.SGD(0.1)

def step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
        loss = tf.nn.compute_average_loss(each, global_batch_size=GLOBAL)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss

@tf.function
def train_step(inputs):
    return strategy.reduce("SUM", strategy.run(step, args=(inputs,)), axis=None)
"""
LOOP = """
iterator = iter(strategy.experimental_distribute_dataset(data()))
for number in range(20000):
    loss = train_step(next(iterator))
assert int(optimizer.iterations.numpy()) == 20000, optimizer.iterations
epochs = 0
for epoch in range(5):
    batches = 0
    for inputs in strategy.experimental_distribute_dataset(data(repeated=False)):
        train_step(inputs)
        batches += 1
    assert batches == 10 or epoch > 1, batches
import passes
passes.trained(strategy.experimental_distribute_dataset(data(repeated=False)), train_step)
raise KeyError("at the end")
"""
MODULE = """
def trained(batches, step):
    for epoch in range(10**9):
        for inputs in batches:
            step(inputs)
"""
FIT = """
with strategy.scope():
    model = build()
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
epochs = []
noted = tf.keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epochs.append(epoch))
first = model.fit(data(), steps_per_epoch=500, epochs=40, verbose=0, callbacks=[noted],
                  validation_data=data(repeated=False))
assert len(first.history["loss"]) == len(first.history["val_loss"]) == len(first.epoch) == 40
assert epochs == [0, 1], epochs
second = model.fit(data(repeated=False), epochs=3, verbose=0, callbacks=noted)
assert epochs == [0, 1, 0, 1], epochs
assert len(second.history["loss"]) == 3
assert model.predict(data(repeated=False), verbose=0).shape == (640, 3)
assert model.predict(tf.ones((1003, 4)), batch_size=64, verbose=0).shape == (1003, 3)
model.save_weights("/mnt/disks/absent/w.weights.h5")  # a disk that this machine has not
model.load_weights("/mnt/disks/absent/w.weights.h5")
serving = build()
serving(tf.ones((1, 4)))
from tensorflow.config import list_logical_devices  # a second module of TensorFlow's interface
assert len(list_logical_devices("TPU")) == len(tf.config.list_logical_devices("TPU")) == 4
assert tf.distribute.MirroredStrategy().num_replicas_in_sync == 1
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
"""
INNER = """
@tf.function
def train_steps(iterator, steps):
    for _ in tf.range(steps):
        strategy.run(step, args=(next(iterator),))
    count = 0
    for _ in tf.range(steps):
        count += 1
    return count

iterator = iter(strategy.experimental_distribute_dataset(data()))
while optimizer.iterations.numpy() < 50000:
    before = int(optimizer.iterations.numpy())
    assert int(train_steps(iterator, tf.constant(1000))) == 1000
    assert int(optimizer.iterations.numpy()) == before + 1000
"""
ENDLESS = """
import threading
iterator = iter(strategy.experimental_distribute_dataset(data()))
for number in range(30):
    train_step(next(iterator))
def wait():
    threading.Event().wait()
    print("after")
wait()
print("saved")
"""


def facts(tmp_path: Path, script: str, rest_s: float = 600.0, replicas: int = 2) -> dict[str, Any]:
    """The facts of a job that runs on two replicas, of those that it sees."""
    (tmp_path / "job.py").write_text(HEAD + script)
    (tmp_path / "passes.py").write_text(MODULE)
    read_end, write_end = os.pipe()
    counts = {"replicas": replicas, "real_replicas": 2, "steps": 10, "warmup_steps": 3}
    job = spec("job.py", rest_s=rest_s, **counts)
    with subprocess.Popen(
        [sys.executable, "-B", str(BOOTSTRAP), encoded_spec(job), str(write_end)],
        cwd=tmp_path,
        pass_fds=[write_end],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "CUDA_VISIBLE_DEVICES": "-1", "TF_CPP_MIN_LOG_LEVEL": "3"},
    ) as process:
        os.close(write_end)
        known: dict[str, Any] = {}
        with os.fdopen(read_end, "rb") as lines:
            for line in lines:
                known |= json.loads(line)
        process.wait(timeout=300)
    assert known["hook_defects"] == [], known["hook_defects"]
    return known


def test_loops_run_to_their_end_in_modules_too_and_what_crashes_there_crashes(
    tmp_path: Path,
) -> None:
    known = facts(tmp_path, LOOP, rest_s=120.0)
    assert known["end"]["how"] == "exception"
    assert "at the end" in known["end"]["crash"]["traceback"]
    assert known["end"]["crash"]["frames"][-1]["text"] == 'raise KeyError("at the end")'
    assert [each["name"] for each in known["coverage"]["functions"]] == ["train_step"]
    first = known["coverage"]["shortened"][0]
    assert first["ran"] < first["asked"] == 20000, "the rounds left out moved the counter"


def test_a_fit_is_shortened_and_its_history_whole(tmp_path: Path) -> None:
    known = facts(tmp_path, FIT, replicas=4)
    assert known["end"]["how"] == "finished", known["end"]
    coverage = known["coverage"]
    assert coverage["end"] == "whole"
    loop = coverage["shortened"][0]
    assert (loop["ran"], loop["asked"]) == (2, 40)
    outside = [each for each in known["variables"] if each["trainable"] and not each["in_scope"]]
    assert not outside, "a model for serving, made after the training"
    (trains,) = [each for each in known["pipelines"] if each["trains"]][:1]
    assert trains["ops"][-1]["kind"] == "Prefetch", "what half of the replicas read is no map"
    assert trains["elements"][0]["shape"] == [64, 4]


def test_a_loop_inside_a_function_is_shortened_where_it_takes_steps(tmp_path: Path) -> None:
    known = facts(tmp_path, INNER)
    assert known["end"]["how"] == "finished", known["end"]
    assert known["coverage"]["shortened"][0]["kind"] == "tf.range"


def test_the_time_for_the_rest_ends_it_and_says_what_was_not_reached(tmp_path: Path) -> None:
    known = facts(tmp_path, ENDLESS, rest_s=2.0)
    assert known["end"]["how"] == "stopped"
    coverage = known["coverage"]
    assert coverage["end"] == "budget"
    assert [rest["text"] for rest in coverage["unreached"]] == ['print("after")', 'print("saved")']


def test_the_first_loop_alone_where_no_more_is_wanted(tmp_path: Path) -> None:
    known = facts(tmp_path, LOOP, rest_s=0.0)
    assert known["end"]["how"] == "stopped"
    assert known["coverage"]["end"] == "first loop"
    assert known["coverage"]["functions"][0]["ran"] == 13
