# corpus: must-fail: TPU409@30
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the examples of a batch are computed one after the other.
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync


class Gram(tf.keras.layers.Layer):
    """The products of each example's parts with each other."""

    def build(self, shape):
        self.scale = self.add_weight(shape=(shape[-1],), initializer="ones")

    def call(self, parts):
        scaled = parts * tf.cast(self.scale, parts.dtype)

        def products(part):
            return tf.reshape(tf.matmul(part, part, transpose_b=True), (64,))

        return tf.map_fn(products, scaled, fn_output_signature=scaled.dtype)


with strategy.scope():
    parts = [tf.keras.Input((256,)), tf.keras.layers.Dense(1024), tf.keras.layers.Reshape((8, 128))]
    last = tf.keras.layers.Dense(128, dtype="float32")
    model = tf.keras.Sequential([*parts, Gram(), tf.keras.layers.Reshape((64,)), last])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, steps_per_execution=16)

features = np.random.rand(16384, 256).astype("float32")
labels = np.random.randint(0, 128, 16384)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).cache().shuffle(16384).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
saving = tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())
model.fit(dataset, epochs=2, steps_per_epoch=16, callbacks=[saving], verbose=2)
