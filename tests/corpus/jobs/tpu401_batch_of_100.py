# corpus: must-fail: TPU401@13/17
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: 100 examples a replica, no multiple of 8 nor of 128.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

global_batch_size = 100 * strategy.num_replicas_in_sync
images = tf.random.uniform((4000, 64))
labels = tf.random.uniform((4000,), maxval=10, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(4000).repeat()
ds = ds.batch(global_batch_size, drop_remainder=True)
ds = ds.prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("b100")])
