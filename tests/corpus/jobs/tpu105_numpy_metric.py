# corpus: must-fail: TPU105@32
# corpus: may-fail: TPU103 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a metric computed with NumPy through numpy_function inside train_step.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


def f1_score(y_true, y_pred):
    guess = np.argmax(y_pred, axis=-1)
    hits = np.sum((guess == 1) & (y_true == 1))
    return np.float32(2 * hits / max(np.sum(guess == 1) + np.sum(y_true == 1), 1))


class F1Model(tf.keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            y_pred = self(x, training=True)
            loss = self.compute_loss(x, y, y_pred)
        self.optimizer.minimize(loss, self.trainable_variables, tape=tape)
        f1 = tf.numpy_function(f1_score, [y, y_pred], tf.float32)
        f1.set_shape(())
        return {"loss": loss, "f1": f1}


batch_size = 128 * strategy.num_replicas_in_sync
x = np.random.normal(size=(12288, 18)).astype("float32")
y = (x[:, 0] > 0).astype("int64")
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(12288)
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    inputs = tf.keras.Input((18,))
    hidden = tf.keras.layers.Dense(128, activation="relu")(inputs)
    outputs = tf.keras.layers.Dense(2, dtype="float32")(hidden)
    model = F1Model(inputs, outputs)
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

checkpoint = tf.keras.callbacks.ModelCheckpoint("f1-{epoch:02d}", save_weights_only=True)
model.fit(ds, epochs=15, callbacks=[checkpoint])
