# corpus: must-fail: TPU206@20/21
# corpus: may-fail: TPU208 TPU602 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-16
# corpus: why: sharding is switched off and the dataset is not sharded by hand: four hosts read the same examples.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-pod")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((4096, 12))
y = tf.random.uniform((4096,), maxval=4, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096, seed=1).repeat()
ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
ds = ds.with_options(options)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((12,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(4, dtype="float32"),
        ]
    )
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("pod_backup")])
