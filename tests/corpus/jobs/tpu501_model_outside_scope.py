# corpus: must-fail: TPU501@19/23
# corpus: may-fail: TPU605 TPU601
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: ends: error
# corpus: why: the Keras 3 model is built before the scope is entered, only compile stands in it.
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")


def build_model():
    inputs = keras.Input((32,))
    x = keras.layers.Dense(128, activation="relu")(inputs)
    return keras.Model(inputs, keras.layers.Dense(10, dtype="float32")(x))


model = build_model()

with strategy.scope():
    model.compile(
        optimizer=keras.optimizers.Adam(),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )

batch = 128 * strategy.num_replicas_in_sync
ds = tf.data.Dataset.from_tensor_slices(
    (tf.random.normal((4096, 32)), tf.random.uniform((4096,), maxval=10, dtype=tf.int32))
)
ds = ds.shuffle(4096).repeat().batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[keras.callbacks.BackupAndRestore("out")])
