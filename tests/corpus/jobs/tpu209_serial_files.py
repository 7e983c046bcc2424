# corpus: must-fail: TPU209@33
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: sixteen record files are read one after another.
import os
import pathlib

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

folder = pathlib.Path("records")
folder.mkdir(exist_ok=True)
for shard in range(16):
    with tf.io.TFRecordWriter(str(folder / f"train-{shard:02d}.tfrecord")) as writer:
        for row in tf.random.uniform((200, 20)).numpy():
            writer.write(row.tobytes())

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync


def parse(record):
    x = tf.ensure_shape(tf.io.decode_raw(record, tf.float32, fixed_length=80), (20,))
    return x, tf.cast(x[0] * 5, tf.int32)


filenames = sorted(str(path) for path in folder.glob("*.tfrecord"))
ds = tf.data.TFRecordDataset(filenames)
ds = ds.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.cache().shuffle(4000).repeat().batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(20,)),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("records_b")])
