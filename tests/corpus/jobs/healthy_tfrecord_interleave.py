# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: many TFRecord files read by a parallel interleave, parsed in parallel, cached, then shuffled.
import argparse
import os
import tempfile

import keras
import numpy as np
import tensorflow as tf

FEATURES = {
    "x": tf.io.FixedLenFeature([32], tf.float32),
    "y": tf.io.FixedLenFeature([], tf.int64),
}


def write_shards(folder, shards=8, per_shard=512):
    rng = np.random.default_rng(5)
    for shard in range(shards):
        path = os.path.join(folder, f"train-{shard:05d}-of-{shards:05d}.tfrecord")
        with tf.io.TFRecordWriter(path) as writer:
            for _ in range(per_shard):
                feature = {
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=rng.random(32))),
                    "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[rng.integers(0, 4)])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())


def parse(record):
    parsed = tf.io.parse_single_example(record, FEATURES)
    return parsed["x"], tf.cast(parsed["y"], tf.int32)


def read(folder, batch_size):
    files = tf.data.Dataset.list_files(os.path.join(folder, "train-*"), shuffle=True, seed=11)
    records = files.interleave(
        tf.data.TFRecordDataset, cycle_length=4, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False
    )
    examples = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE).cache()
    examples = examples.shuffle(4096).repeat()
    return examples.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


def train(args):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    batch_size = args.batch_per_core * strategy.num_replicas_in_sync

    folder = tempfile.mkdtemp()
    write_shards(folder)
    dataset = read(folder, batch_size)

    with strategy.scope():
        inputs = keras.Input((32,))
        x = keras.layers.Dense(args.units, activation="relu")(inputs)
        x = keras.layers.BatchNormalization()(x)
        x = keras.layers.Dense(args.units, activation="relu")(x)
        model = keras.Model(inputs, keras.layers.Dense(4, dtype="float32")(x))
        model.compile(
            keras.optimizers.SGD(0.1, momentum=0.9),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        )
    model.fit(
        dataset,
        steps_per_epoch=4,
        epochs=args.epochs,
        verbose=0,
        callbacks=[keras.callbacks.BackupAndRestore("tfrecord_backup")],
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch-per-core", type=int, default=128)
    parser.add_argument("--units", type=int, default=128)
    parser.add_argument("--epochs", type=int, default=12)
    train(parser.parse_args())
