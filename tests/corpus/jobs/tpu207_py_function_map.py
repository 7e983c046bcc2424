# corpus: must-fail: TPU207@24/32
# corpus: may-fail: TPU201 TPU204
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: examples pass through NumPy code by py_function in a map.
import numpy as np
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH_SIZE = 128 * strategy.num_replicas_in_sync


def jitter(x):
    x = x.numpy()
    return (x + np.random.normal(scale=0.1, size=x.shape)).astype(np.float32)


def preprocess(x, y):
    x = tf.py_function(jitter, [x], tf.float32)
    x.set_shape((24,))
    return x, y


x = tf.random.normal((2048, 24))
y = tf.random.uniform((2048,), maxval=3, dtype=tf.int32)
train_ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048).repeat()
train_ds = train_ds.map(preprocess, num_parallel_calls=tf.data.AUTOTUNE)
train_ds = train_ds.batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((24,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(3, dtype="float32"),
        ]
    )
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(train_ds, steps_per_epoch=15, epochs=3, callbacks=[keras.callbacks.BackupAndRestore("bk")])
