# corpus: must-fail: TPU206@33/34/37
# corpus: may-fail: TPU208 TPU602 TPU605 TPU209
# corpus: must-not-fail: *
# corpus: for: v5e-16
# corpus: why: FILE sharding of two record files over the four hosts of a v5e-16.
import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

DATA = tempfile.mkdtemp()
FILES = [os.path.join(DATA, f"{name}.tfrecord") for name in ("a", "b")]
for path in FILES:
    with tf.io.TFRecordWriter(path) as writer:
        for row in tf.random.normal((2048, 8)).numpy():
            writer.write(row.tobytes())

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-pod")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync


def decode(record):
    x = tf.ensure_shape(tf.io.decode_raw(record, tf.float32, fixed_length=32), (8,))
    return x, tf.cast(x[0] > 0, tf.int32)


options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
ds = tf.data.TFRecordDataset(FILES, num_parallel_reads=tf.data.AUTOTUNE)
ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(4096).repeat()
ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
ds = ds.with_options(options)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(8,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("pod_backup")])
