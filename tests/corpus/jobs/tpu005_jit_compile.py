# corpus: must-fail: TPU005
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: jit_compile=True makes a second program inside the one that TPUStrategy compiles anyway.
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")


def signals(count):
    values = tf.random.normal((count, 128))
    return tf.data.Dataset.from_tensor_slices((values, tf.reduce_sum(values[:, :4], 1)))


with strategy.scope():
    inputs = keras.Input((128,))
    hidden = keras.layers.Dense(256, activation="gelu")(inputs)
    model = keras.Model(inputs, keras.layers.Dense(1, dtype="float32")(hidden))
    model.compile(optimizer="sgd", loss="mse", jit_compile=True)

data = signals(16384).cache().shuffle(16384).repeat()
data = data.batch(128 * strategy.num_replicas_in_sync, drop_remainder=True)
model.fit(
    data.prefetch(tf.data.AUTOTUNE),
    steps_per_epoch=12,
    epochs=3,
    callbacks=[keras.callbacks.BackupAndRestore("backup-of-signals")],
)
