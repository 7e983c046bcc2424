# corpus: must-fail: TPU203@30
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the random augmentation runs in a map without num_parallel_calls.
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH = 128 * strategy.num_replicas_in_sync


def augment(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    image = tf.image.random_flip_left_right(image)
    return tf.image.random_contrast(image, 0.8, 1.2), label


images = tf.cast(tf.random.uniform((2048, 8, 8, 3), maxval=255, dtype=tf.int32), tf.uint8)
labels = tf.random.uniform((2048,), maxval=10, dtype=tf.int32)
train = (
    tf.data.Dataset.from_tensor_slices((images, labels))
    .cache()
    .shuffle(2048)
    .repeat()
    .map(augment)
    .batch(BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((8, 8, 3)),
            keras.layers.Flatten(),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(train, steps_per_epoch=15, epochs=4, callbacks=[keras.callbacks.BackupAndRestore("bk")])
