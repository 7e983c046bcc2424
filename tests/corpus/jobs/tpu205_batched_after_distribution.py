# corpus: must-fail: TPU205@22/23
# corpus: may-fail: TPU605 TPU202
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: ends: error
# corpus: why: the dataset is distributed first and batched afterwards, which a distributed dataset cannot do.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
global_batch = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Input((8,)), tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")

pairs = tf.data.Dataset.from_tensor_slices((tf.random.normal((4096, 8)), tf.random.normal((4096, 1))))
pairs = pairs.shuffle(4096).repeat()
distributed = strategy.experimental_distribute_dataset(pairs)
distributed = distributed.batch(global_batch, drop_remainder=True)
distributed = distributed.prefetch(tf.data.AUTOTUNE)
model.fit(distributed, steps_per_epoch=20, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("b")])
