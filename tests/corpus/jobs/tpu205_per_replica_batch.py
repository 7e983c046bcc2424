# corpus: must-fail: TPU205@21
# corpus: may-fail: TPU401
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: fit gets a dataset batched by the per-replica batch; each replica trains on an eighth of it.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

BATCH_SIZE_PER_REPLICA = 128
GLOBAL_BATCH_SIZE = BATCH_SIZE_PER_REPLICA * strategy.num_replicas_in_sync
EXAMPLES = 8192

x = tf.random.normal((EXAMPLES, 32))
y = tf.random.uniform((EXAMPLES,), maxval=10, dtype=tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(EXAMPLES).repeat()
dataset = dataset.batch(BATCH_SIZE_PER_REPLICA, drop_remainder=True)
dataset = dataset.prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((32,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    model.compile(
        tf.keras.optimizers.Adam(1e-3 * strategy.num_replicas_in_sync),
        tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
    )

model.fit(
    dataset,
    steps_per_epoch=EXAMPLES // GLOBAL_BATCH_SIZE,
    epochs=10,
    callbacks=[tf.keras.callbacks.BackupAndRestore("prb")],
)
