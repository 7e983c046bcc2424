"""Steps whose every replica gets the same tensors."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.watches import training, undistributed

tpu_stubs.install(tf, tpu_stubs.TpuSystem(8, 1, 1), 2, on_resolver=lambda name: None)
watch = undistributed.UndistributedWatch(tf, training.GradientWatch(tf))
strategy = tf.distribute.TPUStrategy()
data = tf.data.Dataset.from_tensor_slices(tf.ones((16, 4))).batch(8, drop_remainder=True)
with strategy.scope():
    W = tf.Variable(tf.ones((4,)))

def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x * W)
    return tape.gradient(loss, W)

@tf.function
def step(x):
    return strategy.run(trained, (x,))

@tf.function
def measure(x):
    return strategy.run(lambda x: tf.reduce_sum(x * W), (x,))

for x in strategy.experimental_distribute_dataset(data):
    step(x)
results = [watch.input]
for x in data:
    measure(x)
results.append(watch.input)
for x in data:
    step(x)
seen = watch.input
print(json.dumps([results, seen.replicas, seen.shapes, seen.from_dataset]))
"""


def test_a_plain_dataset_that_is_trained_on(in_tensorflow: InTensorFlow) -> None:
    before, replicas, shapes, from_dataset = in_tensorflow(PROGRAM)
    assert before == [None, None], "distributed data, and a step without gradients"
    assert (replicas, shapes, from_dataset) == (8, ["float32[8, 4]"], True)
