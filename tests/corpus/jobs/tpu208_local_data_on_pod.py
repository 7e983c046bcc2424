# corpus: must-fail: TPU208@39/40, TPU206@38/39/40/42
# corpus: may-fail: TPU602 TPU605 TPU209
# corpus: must-not-fail: *
# corpus: for: v5e-16
# corpus: args: --data_dir shards
# corpus: why: two record files, sharded over the hosts of a pod, in a folder that only this one has.
import argparse
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--data_dir", default="/mnt/data")
parser.add_argument("--tpu", default="pod-a")
args = parser.parse_args()

os.makedirs(args.data_dir, exist_ok=True)
for shard in range(2):
    with tf.io.TFRecordWriter(f"{args.data_dir}/train-{shard}.tfrecord") as writer:
        for row in tf.random.normal((2048, 10)).numpy():
            writer.write(row.tobytes())

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu=args.tpu)
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync


def decode(record):
    x = tf.ensure_shape(tf.io.decode_raw(record, tf.float32, fixed_length=40), (10,))
    return x, tf.cast(x[1] > 0, tf.int32)


options = tf.data.Options()
options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.FILE
files = tf.data.Dataset.list_files(args.data_dir + "/train-*.tfrecord")
ds = files.interleave(tf.data.TFRecordDataset, num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(4096).repeat()
ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE).with_options(options)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(10,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(ds, steps_per_epoch=15, epochs=3, callbacks=[tf.keras.callbacks.BackupAndRestore("pod_b")])
