"""Records a CPU capture of about a given size: profile_capture.py FOLDER MEGABYTES.

A toy training job over eight CPU replicas under tf.profiler: about 0.165 MB a step. Run in a
process of its own, since the profiler holds about 25 times the file's size in memory.
"""

import sys
from typing import Any

import tensorflow as tf

REPLICAS, STEP_MB = 8, 0.165


def example(number: Any) -> Any:
    """One example."""
    return tf.ones([32]) * tf.cast(number, tf.float32)


def main(folder: str, megabytes: float) -> None:
    """Train under the profiler until the capture should have the size."""
    cpu = tf.config.list_physical_devices("CPU")[0]
    logical = [tf.config.LogicalDeviceConfiguration()] * REPLICAS
    tf.config.set_logical_device_configuration(cpu, logical)
    strategy = tf.distribute.MirroredStrategy([f"CPU:{n}" for n in range(REPLICAS)])
    with strategy.scope():
        layers = [tf.keras.layers.Dense(64, activation="relu") for _ in range(4)]
        model = tf.keras.Sequential([tf.keras.layers.Input((32,)), *layers])
        optimizer = tf.keras.optimizers.SGD()
        optimizer.build(model.trainable_variables)
    data = tf.data.Dataset.range(4096).repeat()
    data = data.map(example, num_parallel_calls=-1)
    data = data.batch(16 * REPLICAS, drop_remainder=True).prefetch(-1)
    iterator = iter(strategy.experimental_distribute_dataset(data))

    def replica_step(batch: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(batch, training=True) ** 2)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    def train_step(batch: Any) -> Any:
        return strategy.reduce("SUM", strategy.run(replica_step, args=(batch,)), axis=None)

    train = tf.function(train_step)
    for _ in range(3):
        train(next(iterator))
    tf.profiler.experimental.start(folder)
    for number in range(round(megabytes / STEP_MB)):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            float(train(next(iterator)))
    tf.profiler.experimental.stop()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
