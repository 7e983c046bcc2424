"""The watches around the training step, in a real TensorFlow with two replicas."""

from pathlib import Path
from typing import Any

import pytest

from tests.sources.job.programs import told

pytestmark = pytest.mark.slow

JOB = """
import json, os
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.watches import training, training_loop
from tpudiag.sources.job.points import user_lines
user_lines.follow_autograph()
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
gradients = training.GradientWatch(tf)
watch = training_loop.LoopWatch(tf, gradients)
watch.watch_keras(tf.keras, "keras")
import script
script.main()
facts = watch.facts()
numerics = watch.numerics(gradients.calls[0], lambda name: None)
watch.rest()
script.go_on()
at = lambda fact: fact.location.line
print(json.dumps({
    "dispatches": facts.dispatches,
    "fetches": [[f.kind, f.steps, at(f)] for f in facts.fetches],
    "on scores": [[m.name, at(m)] for m in watch.facts().metrics_on_scores],
    "in evaluation": [watch.facts().trained_in_evaluation.norms,
                      at(watch.facts().trained_in_evaluation)],
    "held": watch.facts().kept_results and at(watch.facts().kept_results),
    "kept": [[m.name, m.reads, at(m)] for m in watch.facts().kept_metrics],
    "reads": [[r.kind, at(r)] for r in facts.replica_reads],
    "undistributed": facts.undistributed and [facts.undistributed.from_dataset,
                                              at(facts.undistributed)],
    "iterators": [[i.times, i.steps_between, i.asks_once, at(i)] for i in facts.iterators],
    "clipped": [[c.call, at(c)] for c in numerics.clipped],
    "low": [o.op for o in numerics.low_precision],
    "frozen norms": [at(norm) for norm in numerics.frozen_norms],
    "constants": [[list(c.shape), at(c)]
                  for c in graphs.step_ops(gradients.calls[0]).large_constants],
    "frozen": [[s.kind, s.name, s.traced, s.now, at(s)] for s in watch.facts().frozen],
    "pauses": [[p.kind, p.times, p.eager, at(p)] for p in facts.pauses],
}))
"""
SCRIPT = """
import numpy as np
import tensorflow as tf

strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
TABLE = np.random.rand(80_000, 4).astype("float32")
share = 1.0
with strategy.scope():
    weights = tf.Variable(tf.ones((4, 3)))
    norm, chosen, held = (tf.keras.layers.BatchNormalization() for _ in range(3))
    held.trainable = False
    means = [tf.keras.metrics.Mean(name) for name in ("reset", "kept", "of the epoch")]
    reset, kept, running = means
    metrics = tf.keras.metrics
    auc, of_scores = metrics.AUC(name="auc"), metrics.BinaryAccuracy("of scores", threshold=0.0)
    outputs = []
    model = tf.keras.Sequential([tf.keras.layers.Input((4,)), norm])
    for layer in (chosen, held):
        layer.build((None, 4))
data = tf.random.stateless_normal((64, 4), seed=(1, 2))
dataset = tf.data.Dataset.from_tensor_slices(data).repeat().batch(8, drop_remainder=True)


def replica_step(x):
    with tf.GradientTape() as tape:
        x = model(x)  # infers
        x = held(chosen(x, training=False))
        x += tf.gather(TABLE, [0])  # embeds
        logits = tf.cast(x @ weights, tf.bfloat16)
        losses = tf.cast(tf.nn.softmax(logits)[:, 0], tf.float32)
        loss = share * tf.reduce_sum(losses) / 8  # freezes
    running.update_state(loss)
    trained = [*model.trainable_variables, *chosen.trainable_variables]
    gradient = tape.gradient(loss, [weights, *trained, *held.variables])[0]
    gradient = tf.clip_by_norm(gradient, 1.0)  # clips
    weights.assign_sub(tf.distribute.get_replica_context().all_reduce("SUM", gradient))
    return loss, tf.tile(logits, (4096, 1))


@tf.function
def evaluate(x):
    for mean in (reset, kept):
        mean.update_state(x)
    scores = norm(x, training=True) @ weights  # learns
    for metric in (auc, of_scores):
        metric.update_state(x[:, :3], scores)  # compares


@tf.function
def step(x):
    return strategy.run(replica_step, args=(x,))  # runs


@tf.function
def mean(x):
    losses, logits = strategy.run(replica_step, args=(x,))
    means = strategy.run(lambda x: tf.reduce_mean(x), args=(logits,))
    strategy.reduce("SUM", means, axis=None)  # sums
    return strategy.reduce("MEAN", losses, axis=None)  # averages


def main():
    distributed = strategy.experimental_distribute_dataset(dataset)
    for number in range(6):
        losses, logits = step(next(iter(distributed)))  # starts
        outputs.append(logits)
        first = strategy.experimental_local_results(losses)[0]  # takes
        if first > 100:  # fetches
            break
        for _ in range(8):
            weights.assign(0.9 * weights)  # sets
        if number % 3 == 2:
            model(data)  # evaluates
            evaluate(data)
            print([mean.result() for mean in means])  # reads
            reset.reset_state()
    mean(next(iter(distributed)))
    for x in dataset.take(1):
        step(x)


def go_on():
    global share
    share = 0.5
    for x in dataset.take(1):
        step(x)
"""


def line(mark: str) -> int:
    return next(n for n, text in enumerate(SCRIPT.split("\n"), 1) if text.endswith(f"# {mark}"))


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder: Path = tmp_path_factory.mktemp("job")
    (folder / "script.py").write_text(SCRIPT)
    return told(JOB, cwd=folder)


FOUND: dict[str, Any] = {
    "dispatches": 8,
    "kept": [["kept", 2, line("reads")]],  # never reset, as others are
    "in evaluation": [1, line("learns")],
    "on scores": [["auc", line("compares")]],
    "held": line("starts"),
    "undistributed": [True, line("runs")],  # a plain tensor for every replica
    "clipped": [["tf.clip_by_norm", line("clips")]],  # before the sum
    "low": ["Softmax"],
    "frozen norms": [line("infers")],  # one that trains so by no one's choice
    "constants": [[[80_000, 4], line("embeds")]],
    "pauses": [["evaluation", 2, True, line("evaluates")]],  # eagerly, between steps
    "frozen": [["read", "share", "1.0", "0.5", line("freezes")]],  # once calls are answered
}
AMONG_OTHERS: dict[str, Any] = {
    "fetches": [["result", 6, line("fetches")], ["update", 6, line("sets")]],
    "reads": [["first", line("takes")], ["mean", line("averages")], ["sum", line("sums")]],
    "iterators": [[6, 1.0, True, line("starts")]],
}


@pytest.mark.parametrize("what", FOUND)
def test_what_the_loop_does_is_found_at_its_line(facts: Any, what: str) -> None:
    assert facts[what] == FOUND[what]


@pytest.mark.parametrize("what", AMONG_OTHERS)
def test_what_it_does_among_other_things_is_found_too(facts: Any, what: str) -> None:
    assert all(each in facts[what] for each in AMONG_OTHERS[what])
