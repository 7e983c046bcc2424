# corpus: must-fail: TPU104@28/31/32
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: compile(run_eagerly=True) was left in after debugging.
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((2048, 30))
y = tf.random.uniform((2048,), maxval=3, dtype=tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(2048).repeat()
dataset = dataset.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((30,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(3, dtype="float32"),
        ]
    )
    model.compile(
        optimizer="sgd",
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        run_eagerly=True,
    )

model.fit(dataset, steps_per_epoch=30, epochs=2, callbacks=[keras.callbacks.BackupAndRestore("b")])
