# corpus: must-fail: TPU404@9
# corpus: may-fail: TPU502 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the mixed_float16 policy, which Keras pairs with loss scaling by itself.
import tensorflow as tf
from tensorflow import keras

keras.mixed_precision.set_global_policy("mixed_float16")

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((4096, 30))
y = tf.random.uniform((4096,), maxval=6, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(4096).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((30,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(6, dtype="float32"),
        ]
    )
    model.compile(
        keras.optimizers.SGD(0.01),
        keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[keras.callbacks.BackupAndRestore("f16")])
