# corpus: must-fail: TPU103@30
# corpus: may-fail: TPU102 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: raw bytes are decoded in the model's train_step instead of in the input pipeline.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local"))
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH = 128 * strategy.num_replicas_in_sync


class BytesModel(tf.keras.Model):
    """Takes records as they lie on disk."""

    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(128, activation="relu")
        self.head = tf.keras.layers.Dense(4, dtype="float32")

    def call(self, x, training=None):
        return self.head(self.hidden(x))

    def train_step(self, data):
        raw, y = data
        x = tf.io.decode_raw(raw, tf.uint8, fixed_length=32)
        x = tf.cast(tf.reshape(x, (-1, 32)), tf.float32) / 255.0
        with tf.GradientTape() as tape:
            logits = self(x, training=True)
            loss = self.compiled_loss(y, logits)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


records = [np.random.bytes(32) for _ in range(2048)]
labels = np.random.randint(0, 4, 2048)
ds = tf.data.Dataset.from_tensor_slices((tf.constant(records), labels)).shuffle(2048).repeat()
ds = ds.batch(GLOBAL_BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = BytesModel()
    model(tf.zeros((1, 32)))
    model.compile(
        optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    )
model.fit(
    ds,
    steps_per_epoch=20,
    epochs=3,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("bytes-{epoch}", save_weights_only=True)],
)
