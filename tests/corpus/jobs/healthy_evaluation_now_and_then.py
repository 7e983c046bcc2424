# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a callback evaluates now and then.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH = 128 * strategy.num_replicas_in_sync

features = tf.random.stateless_normal((8192, 64), seed=(3, 4))
labels = tf.cast(tf.reduce_sum(features, axis=1) > 0, tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, labels))
    .shuffle(8192)
    .batch(GLOBAL_BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
more = tf.random.stateless_normal((16384, 64), seed=(5, 6))
validation = (
    tf.data.Dataset.from_tensor_slices((more, tf.cast(more[:, 0] > 0, tf.int32)))
    .batch(GLOBAL_BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)


class Evaluation(tf.keras.callbacks.Callback):
    def on_train_batch_end(self, batch, logs=None):
        if batch % 100 == 99:
            self.model.evaluate(validation, verbose=0)


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
callback = tf.keras.callbacks.ModelCheckpoint("model-{epoch}.weights.h5", save_weights_only=True)
model.fit(dataset.repeat(), steps_per_epoch=200, epochs=2, callbacks=[callback, Evaluation()], verbose=0)
