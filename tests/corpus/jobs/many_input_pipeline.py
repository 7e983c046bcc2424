# corpus: must-fail: TPU202@47, TPU203@45, TPU209@44, TPU102@47
# corpus: may-fail: TPU101 TPU204 TPU201 TPU605 TPU206
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: an input pipeline as written on a laptop: serial reads, serial parse, open batch, no prefetch.
import os
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

root = tempfile.mkdtemp()
paths = []
for shard in range(10):
    path = os.path.join(root, f"data_{shard}.tfrecord")
    with tf.io.TFRecordWriter(path) as writer:
        for _ in range(1400):
            example = tf.train.Example(
                features=tf.train.Features(
                    feature={
                        "x": tf.train.Feature(float_list=tf.train.FloatList(value=np.random.rand(8))),
                        "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[np.random.randint(3)])),
                    }
                )
            )
            writer.write(example.SerializeToString())
    paths.append(path)


def parse_fn(record):
    parsed = tf.io.parse_single_example(
        record, {"x": tf.io.FixedLenFeature([8], tf.float32), "y": tf.io.FixedLenFeature([], tf.int64)}
    )
    return parsed["x"], parsed["y"]


resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

dataset = tf.data.TFRecordDataset(paths)
dataset = dataset.map(parse_fn)
dataset = dataset.shuffle(2000)
dataset = dataset.batch(128 * strategy.num_replicas_in_sync)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(8,)),
            tf.keras.layers.Dense(3, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=6, callbacks=[tf.keras.callbacks.BackupAndRestore("laptop")])
