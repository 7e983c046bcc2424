"""A rehearsal's changes of a job are never reported as the job's fault."""

from pathlib import Path
from typing import Any

import pytest

from tests.commands.called import reported

pytestmark = pytest.mark.slow

HEAD = """\
import numpy as np
import tensorflow as tf

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(""))
layers = tf.keras.layers
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
"""
PICTURES = """
with tf.io.TFRecordWriter("pictures.tfrec") as writer:
    picture = tf.io.encode_jpeg(np.zeros((32, 32, 3), "uint8")).numpy()
    for _ in range(330):
        writer.write(picture)

def data(examples):
    def read(record):
        return tf.reshape(tf.cast(tf.io.decode_jpeg(record), tf.float32), (32, 32, 3)), 1
    pictures = tf.data.TFRecordDataset("pictures.tfrec").take(examples)
    return pictures.map(read).shuffle(100).batch(128)

with strategy.scope():
    model = tf.keras.Sequential([
        layers.Input((32, 32, 3)),
        layers.Conv2D(32, 3, strides=2, activation="relu"),
        layers.Conv2D(64, 3, strides=2, activation="relu"),
        layers.GlobalAveragePooling2D(), layers.Dense(10),
    ])
    model.compile("sgd", loss, metrics=["accuracy"])
told = model.fit(data(330), validation_data=data(131), epochs=12, verbose=0)
assert {len(values) for values in told.history.values()} == {12}, told.history
assert model.predict(data(131), verbose=0).shape == (131, 10)

@tf.function
def evaluate(batch):
    return strategy.run(lambda x, _: model(x), args=batch)

for batch in strategy.experimental_distribute_dataset(data(330)):
    evaluate(batch)
per_host = strategy.distribute_datasets_from_function(lambda _: data(330).unbatch().batch(16))
for batch in per_host:
    evaluate(batch)

class Own(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(2)

    def call(self, x):
        return self.dense(x)

    def train_step(self, pair):
        with tf.GradientTape() as tape:
            lost = self.compute_loss(y=pair[1], y_pred=self(pair[0], training=True))
        weights = self.trainable_weights
        self.optimizer.apply_gradients(zip(tape.gradient(lost, weights), weights))
        return {"loss": lost}

with strategy.scope():
    own = Own()
    own.compile("sgd", loss)
own.fit(np.ones((64, 7)), np.ones(64), batch_size=16, verbose=0)

stateful = tf.keras.Sequential([layers.Input(batch_shape=(5, 7, 3)), layers.GRU(4, stateful=True)])
assert stateful.predict(np.zeros((100, 7, 3)), batch_size=5, verbose=0).shape == (100, 4)
for _ in range(2):
    assert stateful.predict(np.zeros((5, 7, 3)), verbose=0).shape == (5, 4)
print("the end")
"""
COUNTED = """
with strategy.scope():
    kernel = tf.Variable(tf.ones((1, 1)))

def step(x):
    with tf.GradientTape() as tape:
        lost = tf.reduce_sum(x @ kernel)
    kernel.assign_sub(0.0 * tape.gradient(lost, kernel))

@tf.function
def train(batch):
    strategy.run(step, args=(batch,))

seen = set()
def spun(number):
    until = time.process_time() + 0.02
    while time.process_time() < until:
        pass
    return number
def slowly(number):
    return tf.numpy_function(spun, [number], tf.float32)

numbers = tf.data.Dataset.range(200).map(lambda n: tf.reshape(tf.cast(n, tf.float32), (1,)))
import time
numbers = numbers.map(lambda n: tf.ensure_shape(slowly(n), (1,)))
for batch in strategy.experimental_distribute_dataset(numbers.batch(2, drop_remainder=True)):
    train(batch)
    seen.add(float(strategy.experimental_local_results(batch)[0][0, 0]))
if len(seen) != 100:
    raise ValueError("duplicate examples: Your input ran out of data")
"""
PACKED = """
files = [f"real-{number}.tfrec" for number in range(2)]
for file in files:
    with tf.io.TFRecordWriter(file, "GZIP") as writer:
        for _ in range(150):
            feature = tf.train.Feature(float_list=tf.train.FloatList(value=[7.0, 7.0]))
            example = tf.train.Example(features=tf.train.Features(feature={"x": feature}))
            writer.write(example.SerializeToString())

def parse(record):
    features = {"x": tf.io.FixedLenFeature([2], tf.float32)}
    return tf.io.parse_single_example(record, features)["x"], 1

def data(names):
    return tf.data.TFRecordDataset(np.array(names), compression_type="GZIP").map(parse)

assert {float(x[0]) for x, _ in data(files)} == {7.0}
with strategy.scope():
    model = tf.keras.Sequential([layers.Input((2,)), layers.Dense(2)])
    model.compile("sgd", loss)
model.fit(data(files).batch(64, drop_remainder=True), epochs=2, verbose=0)
assert sum(1 for _ in data(["gs://a/b.tfrec", *files])) > 300
"""
BRANCHED = """
from google.colab import auth, userdata
auth.authenticate_user()
with strategy.scope():
    kernel = tf.Variable(tf.ones((1, 1)), aggregation=tf.VariableAggregation.SUM)
    model = tf.keras.Sequential([layers.Input((2,)), layers.Dense(2)])
    model.compile("sgd", loss)
model.fit(np.ones((64, 2)), np.ones(64), batch_size=16, epochs=2, verbose=0)

def step(x):
    with tf.GradientTape() as tape:
        lost = tf.reduce_sum(x @ kernel)
    moved = -0.01 * tape.gradient(lost, kernel)
    tf.cond(lost > -1e9, lambda: kernel.assign_add(moved), lambda: kernel)

@tf.function
def train(batch):
    strategy.run(step, args=(batch,))

numbers = tf.data.Dataset.from_tensors([1.0]).repeat(64).batch(16, drop_remainder=True)
for batch in strategy.experimental_distribute_dataset(numbers):
    train(batch)
rows = model.predict(np.ones((640, 2)), batch_size=16, verbose=0)
open("none/there.txt", "w")
"""


def check(folder: Path, job: str, *options: str) -> tuple[str, dict[str, Any]]:
    """Rehearse a job; what was said on stderr, and the report."""
    (folder / "job.py").write_text(HEAD + job)
    done, report = reported(
        folder, "check", "job.py", "--no-compile", "--measure-input", "0", "--steps", "4",
        "--warmup", "2", "--fail-on", "never", *options,
    )  # fmt: skip
    assert report and report["hook_defects"] == [], done.stderr
    return done.stderr, report


def known_errors(report: dict[str, Any]) -> list[str]:
    (outcome,) = (each for each in report["outcomes"] if each["id"] == "TPU605")
    return [finding["message"] for finding in outcome["findings"]]


def test_batches_that_leave_replicas_empty_and_a_stateful_prediction(tmp_path: Path) -> None:
    said, report = check(tmp_path, PICTURES)
    assert "crashed" not in said and report["coverage"]["end"] == "whole", said
    assert known_errors(report) == []


def test_what_goes_away_without_the_rehearsals_change_is_no_finding(tmp_path: Path) -> None:
    said, report = check(tmp_path, COUNTED, "--for", "v5e-2", "--budget", "8")
    assert report["coverage"]["end"] == "whole" and known_errors(report) == [], said
    (note,) = (note for note in report["notes"] if "do not fit at job.py" in note)
    assert note.startswith("The rehearsal's ") and "duplicate examples" in note


def test_data_that_are_there_are_read(tmp_path: Path) -> None:
    said, report = check(tmp_path, PACKED, "--fake-data", "--for", "v5e-2")
    assert "crashed" not in said and known_errors(report) == [], said
    (note,) = (note for note in report["notes"] if note.startswith("Data stood in for"))
    assert "gs://a/b.tfrec" in note and "real-" not in note


def test_what_one_replica_does_and_several_cannot(tmp_path: Path) -> None:
    said, report = check(tmp_path, BRANCHED, "--for", "v5e-2")
    assert "on 1 CPU replica" in report["headline"]
    assert "the job crashed: FileNotFoundError" in said, "no cut value came to it: it is no misfit"
    assert report["coverage"]["end"] == "crash" and "fit at" not in str(report["notes"])
    (sent,) = (note for note in report["notes"] if note.startswith("Not sent"))
    assert "google.colab" in sent
