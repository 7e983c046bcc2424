# corpus: must-fail: TPU402@20/21
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: hidden layers of 150 and 200, which the MXU pads to 256.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from tensorflow.keras.layers import Dense, Input

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    inputs = Input((64,))
    x = Dense(150, activation="relu")(inputs)
    x = Dense(200, activation="relu")(x)
    outputs = Dense(10, dtype="float32")(x)
    model = tf.keras.Model(inputs, outputs)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

ds = tf.data.Dataset.from_tensor_slices(
    (tf.random.normal((4096, 64)), tf.random.uniform((4096,), maxval=10, dtype=tf.int32))
)
ds = ds.shuffle(4096).repeat().batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
model.fit(
    ds,
    steps_per_epoch=15,
    epochs=3,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("w-{epoch}", save_weights_only=True)],
)
