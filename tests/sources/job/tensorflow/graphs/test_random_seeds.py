"""Draws whose seeds are the same on all replicas, wherever the step is called."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs import random_seeds
from tpudiag.sources.job.tensorflow.watches import training

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
watch = training.GradientWatch(tf)
with strategy.scope():
    w = tf.Variable(1.0)

def step(x, number):
    seed = tf.distribute.get_replica_context().replica_id_in_sync_group
    with tf.GradientTape() as tape:
        same = tf.random.stateless_normal((4, 8), [17, 0])
        later = tf.random.stateless_normal((4, 8), [17, number])
        own = tf.random.stateless_normal((4, 8), tf.stack([seed, 0]))
        loss = tf.reduce_sum((x + same + later + own) * w)
    return tape.gradient(loss, w)

@tf.function
def once(number):
    return strategy.run(step, (tf.ones((4, 8)), number))

@tf.function
def many(count):
    for number in tf.range(count):
        strategy.run(step, (tf.ones((4, 8)), number))

@tf.function
def within(count):
    for number in tf.range(count):
        if number > 0:
            strategy.run(step, (tf.ones((4, 8)), number))

def found(traced):
    traced.get_concrete_function(tf.TensorSpec((), tf.int32))
    same = random_seeds.same_draws(tf, watch.calls[-1])
    return [[draw.location.line, draw.copies, draw.each_step] for draw in same]

print(json.dumps([found(each) for each in (once, many, within)]))
"""


def test_constant_seeds_are_alike_on_replicas_and_in_steps(in_tensorflow: InTensorFlow) -> None:
    lines = PROGRAM.splitlines()
    fixed, later = (
        next(n for n, text in enumerate(lines, 1) if text.strip().startswith(name))
        for name in ("same =", "later =")
    )
    assert in_tensorflow(PROGRAM) == [[[fixed, 2, True], [later, 2, False]]] * 3
