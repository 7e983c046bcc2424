# corpus: must-fail: TPU214@28
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: batches are shuffled, not examples: whoever stands together in the file trains together in every epoch.
import argparse

import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--rows", type=int, default=16384)
arguments = parser.parse_args()

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
global_batch = 128 * strategy.num_replicas_in_sync


def rows():
    """Measurements, those of one class after those of the other."""
    labels = tf.cast(tf.range(arguments.rows) * 3 // arguments.rows, tf.int32)
    values = tf.random.normal((arguments.rows, 64)) + tf.cast(labels, tf.float32)[:, None]
    batches = tf.data.Dataset.from_tensor_slices((values, labels))
    batches = batches.batch(global_batch, drop_remainder=True)
    # 16 batches in the buffer
    return batches.shuffle(16).repeat().prefetch(tf.data.AUTOTUNE)


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(3, dtype="float32"),
        ]
    )
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(
    rows(),
    steps_per_epoch=16,
    epochs=4,
    callbacks=[tf.keras.callbacks.BackupAndRestore("shuffled-backup")],
)
