# corpus: must-fail: TPU404@31
# corpus: may-fail: TPU502
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: bfloat16 with a LossScaleOptimizer around Adam, as on GPUs.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((4096, 30))
y = tf.random.uniform((4096,), maxval=6, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(30,)),
            tf.keras.layers.Dense(6, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(optimizer)
    model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(
    ds,
    steps_per_epoch=15,
    epochs=3,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("ls-{epoch}", save_weights_only=True)],
)
