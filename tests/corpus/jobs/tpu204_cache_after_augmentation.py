# corpus: must-fail: TPU204@27
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: cache stands after shuffle and random augmentation: every epoch sees the same "random" examples.
import tensorflow as tf

AUTO = tf.data.AUTOTUNE
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_crop(image, (6, 6, 3))
    return image, label


def pipeline(batch):
    images = tf.random.uniform((10240, 8, 8, 3))
    labels = tf.random.uniform((10240,), maxval=4, dtype=tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((images, labels))
    ds = ds.shuffle(10240)
    ds = ds.map(augment, num_parallel_calls=AUTO)
    ds = ds.cache()
    ds = ds.batch(batch, drop_remainder=True)
    return ds.prefetch(AUTO)


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((6, 6, 3)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(4, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(
    pipeline(128 * strategy.num_replicas_in_sync),
    epochs=20,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("aug/{epoch}.keras")],
)
