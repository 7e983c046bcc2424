# corpus: must-fail: TPU203@31
# corpus: may-fail: TPU209 TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: record files are interleaved, but on one thread.
import glob
import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

folder = tempfile.mkdtemp()
for shard in range(6):
    with tf.io.TFRecordWriter(f"{folder}/part-{shard}.tfrecord") as writer:
        for row in tf.random.normal((400, 16)).numpy():
            writer.write(row.tobytes())

strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver("local"))
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync


def decode(record):
    values = tf.io.decode_raw(record, tf.float32, fixed_length=64)
    values = tf.ensure_shape(values, (16,))
    return values, tf.cast(values[0] > 0, tf.int32)


files = tf.data.Dataset.from_tensor_slices(sorted(glob.glob(folder + "/part-*"))).shuffle(6)
ds = files.interleave(tf.data.TFRecordDataset, cycle_length=3, block_length=8)
ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache()
ds = ds.shuffle(2000).repeat().batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(256, activation="relu", input_shape=(16,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(
    ds,
    steps_per_epoch=15,
    epochs=4,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("m-{epoch}", save_weights_only=True)],
)
