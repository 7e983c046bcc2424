# corpus: must-fail: TPU102@20
# corpus: may-fail: TPU101 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: batch without drop_remainder; the batch dimension of the step is unknown.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

features = tf.random.normal((13000, 40))
labels = tf.random.uniform((13000,), maxval=10, dtype=tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, labels))
    .shuffle(13000)
    .batch(batch_size)
    .prefetch(tf.data.AUTOTUNE)
)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((40,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(dataset, epochs=10, callbacks=[tf.keras.callbacks.BackupAndRestore("bk")])
