# corpus: must-fail: TPU202@20
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the pipeline ends in batch, with no prefetch.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")


def input_fn(batch_size):
    x = tf.random.normal((4096, 60))
    y = tf.random.uniform((4096,), maxval=10, dtype=tf.int64)
    dataset = tf.data.Dataset.from_tensor_slices((x, y))
    dataset = dataset.shuffle(4096).repeat()
    dataset = dataset.batch(batch_size, drop_remainder=True)
    return dataset


with strategy.scope():
    model = tf.keras.Sequential()
    model.add(tf.keras.Input((60,)))
    model.add(tf.keras.layers.Dense(128, activation="relu"))
    model.add(tf.keras.layers.Dense(10, dtype="float32"))
    model.compile(
        optimizer=tf.keras.optimizers.Adam(),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )

model.fit(
    input_fn(128 * strategy.num_replicas_in_sync),
    steps_per_epoch=20,
    epochs=4,
    callbacks=[tf.keras.callbacks.BackupAndRestore("backup")],
)
