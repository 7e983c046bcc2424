# corpus: must-fail: TPU602@31
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: every epoch overwrites one and the same h5 file; a crash while writing loses all.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((8192, 50))
y = tf.random.uniform((8192,), maxval=10, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8192).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(50,)),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

saver = tf.keras.callbacks.ModelCheckpoint("model.h5", save_weights_only=True)
model.fit(ds, epochs=4, steps_per_epoch=12, callbacks=[saver])
