# corpus: must-fail: TPU403, TPU401@12/21, TPU402@29/30, TPU601
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a GPU script moved over: float32, 30 a replica, widths of 100 and 300, nothing saved.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

BATCH = 30 * strategy.num_replicas_in_sync

images = tf.random.normal((4000, 64))
labels = tf.random.uniform((4000,), maxval=10, dtype=tf.int32)


def get_dataset():
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(4000).repeat()
    ds = ds.batch(BATCH, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


with strategy.scope():
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(300, activation="relu"),
            tf.keras.layers.Dense(100, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(get_dataset(), steps_per_epoch=20, epochs=4)
