# corpus: must-fail: TPU215@31/32
# corpus: may-fail: TPU401
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: list_files shuffles pictures and masks each by itself.
import pathlib
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 16 * strategy.num_replicas_in_sync
folder = pathlib.Path(tempfile.mkdtemp())
for kind, channels in (("pictures", 3), ("masks", 1)):
    (folder / kind).mkdir()
    for number in range(256):
        numbers = np.random.randint(0, 255 if channels > 1 else 2, (64, 64, channels), np.uint8)
        numbers.tofile(folder / kind / f"{number}.raw")


def read(path, channels):
    return tf.reshape(tf.io.decode_raw(tf.io.read_file(path), tf.uint8), (64, 64, channels))


AUTO = tf.data.AUTOTUNE
pictures = tf.data.Dataset.list_files(f"{folder}/pictures/*.raw")
masks = tf.data.Dataset.list_files(f"{folder}/masks/*.raw")
pictures = pictures.map(lambda path: read(path, 3), num_parallel_calls=AUTO)
masks = masks.map(lambda path: read(path, 1), num_parallel_calls=AUTO)
dataset = tf.data.Dataset.zip((pictures, masks)).cache().shuffle(256).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(AUTO)

with strategy.scope():
    layers = [tf.keras.Input((64, 64, 3)), tf.keras.layers.Rescaling(1 / 255)]
    layers += [tf.keras.layers.Conv2D(128, 3, padding="same", activation="relu")]
    model = tf.keras.Sequential([*layers, tf.keras.layers.Conv2D(1, 1, dtype="float32")])
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    model.compile("adam", loss, steps_per_execution=2)
saving = tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())
model.fit(dataset, epochs=2, steps_per_epoch=2, callbacks=[saving], verbose=2)
