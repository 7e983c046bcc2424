"""No CPU replica gets an empty batch, and no row of a prediction is one that was copied."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.devices import full_replicas
from tpudiag.sources.job.points import interventions

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 4)
full = full_replicas.FullReplicas(tf)
full.watch_keras(tf.keras)
strategy = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(4)])

def data(examples, batch, drop=False):
    made = tf.data.Dataset.range(examples).filter(lambda _: True).batch(batch, drop)
    return made.map(lambda numbers: (tf.cast(numbers, tf.float32)[:, None], numbers))

def seen(distributed):
    return [[part[1].numpy().tolist() for part in zip_(batch)] for batch in distributed]

def zip_(batch):
    return list(zip(*(strategy.experimental_local_results(part) for part in batch)))

answers = {
    "ragged": seen(strategy.experimental_distribute_dataset(data(17, 8)))[-2:],
    "nine": seen(strategy.experimental_distribute_dataset(data(9, 16))),
    "static": seen(strategy.experimental_distribute_dataset(data(9, 8, True))),
    "host": seen(strategy.distribute_datasets_from_function(lambda _: data(10, 2))),
    "noted": [kind.value for kind in interventions.made()],
}

@tf.function
def summed():
    total = tf.constant(0, tf.int64)
    for x, y in strategy.experimental_distribute_dataset(data(10, 8)):
        def rows(part):
            return tf.reduce_sum(tf.ones_like(part))
        total += strategy.reduce("SUM", strategy.run(rows, (y,)), axis=None)
    return total

answers["in a graph"] = int(summed())
with strategy.scope():
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((1,)), layers.Dense(1, use_bias=False)])
    model.compile("sgd", "mse")
    model.set_weights([tf.ones((1, 1)).numpy()])
answers["predicted"] = model.predict(data(18, 8), verbose=0)[:, 0].tolist()
answers["predicted steps"] = model.predict(data(18, 8), steps=2, verbose=0)[:, 0].tolist()
print(json.dumps(answers))
"""


def test_every_replica_has_examples(in_tensorflow: InTensorFlow) -> None:
    answers = in_tensorflow(PROGRAM)
    assert answers["ragged"] == [[[8, 9], [10, 11], [12, 13], [14, 15]], [[16], [16], [16], [16]]]
    assert answers["nine"] == [[[0, 1, 2], [3, 4], [5, 6], [7, 8]]]
    assert answers["static"] == [[[0, 1], [2, 3], [4, 5], [6, 7]]], "as tf.distribute splits it"
    assert answers["host"] == [[[0, 1], [2, 3], [4, 5], [6, 7]], [[8, 9], [8], [8], [8]]]
    assert answers["noted"] == ["even split of the last batch"]
    assert answers["in a graph"] == 12, "ten and two copies"
    assert answers["predicted"] == [float(number) for number in range(18)]
    assert answers["predicted steps"] == [float(number) for number in range(16)]
