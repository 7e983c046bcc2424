# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v6e-4
# corpus: why: a v6e target with layers of 256, Keras 3 fit with steps_per_execution, which CPU replicas cannot take as it is.

import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

GLOBAL = strategy.num_replicas_in_sync * 256

def split(count, training):
    x = tf.random.uniform((count, 64), minval=0, maxval=255, dtype=tf.int32)
    x = tf.cast(x, tf.uint8)
    y = tf.random.uniform((count,), maxval=7, dtype=tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    if training:
        ds = ds.shuffle(count).repeat()
    ds = ds.batch(GLOBAL, drop_remainder=True)
    ds = ds.map(lambda a, b: (tf.cast(a, tf.float32) / 127.5 - 1.0, b), num_parallel_calls=tf.data.AUTOTUNE)
    return ds.prefetch(tf.data.AUTOTUNE)

def residual(x):
    y = tf.keras.layers.Dense(256, activation="relu")(x)
    y = tf.keras.layers.Dropout(0.1)(y)
    return tf.keras.layers.LayerNormalization()(tf.keras.layers.add([x, y]))

with strategy.scope():
    inputs = tf.keras.Input((64,))
    x = tf.keras.layers.Dense(256)(inputs)
    x = residual(x)
    x = residual(x)
    model = tf.keras.Model(inputs, tf.keras.layers.Dense(7, dtype="float32")(x))
    model.compile(
        optimizer=tf.keras.optimizers.Adam(1e-3),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=[tf.keras.metrics.SparseCategoricalAccuracy()],
        steps_per_execution=5,
    )

model.fit(
    split(8192, True),
    epochs=6,
    steps_per_epoch=10,
    validation_data=split(2048, False),
    callbacks=[tf.keras.callbacks.BackupAndRestore("steps_backup")],
)
