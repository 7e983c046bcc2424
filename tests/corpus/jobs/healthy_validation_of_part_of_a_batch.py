# corpus: must-fail: none
# corpus: may-fail: TPU102
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: convolutions over data of unknown length, validated by less than one batch; its history becomes a table.
import keras
import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH_SIZE = 128 * strategy.num_replicas_in_sync

rng = np.random.default_rng(0)
pictures = rng.random((3 * BATCH_SIZE, 16, 16, 3), dtype=np.float32)
labels = rng.integers(0, 10, 3 * BATCH_SIZE).astype(np.int32)


def good(picture, label):
    return label >= 0


def data(examples):
    dataset = tf.data.Dataset.from_tensor_slices((pictures[:examples], labels[:examples]))
    return dataset.filter(good)


train = data(len(pictures)).cache().shuffle(4 * BATCH_SIZE).batch(BATCH_SIZE, drop_remainder=True)
validation = data(BATCH_SIZE + 3).batch(BATCH_SIZE).skip(1).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.Input((16, 16, 3)),
            keras.layers.Conv2D(32, 3, strides=2, activation="relu"),
            keras.layers.Conv2D(64, 3, strides=2, activation="relu"),
            keras.layers.GlobalAveragePooling2D(),
            keras.layers.Dense(10, dtype="float32"),
        ]
    )
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile("adam", loss, metrics=["accuracy"])

history = model.fit(
    train.prefetch(tf.data.AUTOTUNE),
    epochs=12,
    validation_data=validation,
    callbacks=[keras.callbacks.BackupAndRestore("backup")],
)
table = np.array([history.history[name] for name in sorted(history.history)])
assert table.shape == (4, 12), table.shape
