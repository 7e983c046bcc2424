# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the published tutorial's shape: resolver in try/except, build and compile in scope, fit on tf.data.
"""Digits classifier on a TPU, Keras fit."""
import numpy as np
import tensorflow as tf

try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    print("All devices: ", tf.config.list_logical_devices("TPU"))
except ValueError:
    print("No TPU found")
    strategy = tf.distribute.get_strategy()

print("REPLICAS: ", strategy.num_replicas_in_sync)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

EPOCHS = 8
BATCH_SIZE = 128 * strategy.num_replicas_in_sync

rng = np.random.default_rng(0)
x_train = rng.random((8192, 784), dtype=np.float32)
y_train = rng.integers(0, 10, 8192).astype(np.int32)
x_test = rng.random((2048, 784), dtype=np.float32)
y_test = rng.integers(0, 10, 2048).astype(np.int32)


def get_dataset(x, y, batch_size, is_training=True):
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    if is_training:
        dataset = dataset.shuffle(8192)
        dataset = dataset.repeat()
    dataset = dataset.batch(batch_size, drop_remainder=True)
    return dataset.prefetch(tf.data.AUTOTUNE)


steps_per_epoch = len(x_train) // BATCH_SIZE
validation_steps = len(x_test) // BATCH_SIZE

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input(shape=(784,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    schedule = tf.keras.optimizers.schedules.CosineDecay(1e-3, EPOCHS * steps_per_epoch)
    model.compile(
        optimizer=tf.keras.optimizers.Adam(schedule),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["sparse_categorical_accuracy"],
    )

model.fit(
    get_dataset(x_train, y_train, BATCH_SIZE),
    epochs=EPOCHS,
    steps_per_epoch=steps_per_epoch,
    validation_data=get_dataset(x_test, y_test, BATCH_SIZE, is_training=False),
    validation_steps=validation_steps,
    callbacks=[tf.keras.callbacks.BackupAndRestore("backup")],
)
