# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: PNG files by class folder, decoded in parallel and cached, random augmentation after the cache.
import os
import pathlib
import tempfile

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

AUTOTUNE = tf.data.AUTOTUNE
IMG_SIZE = 12
CLASS_NAMES = ["cat", "dog"]


def write_images(root):
    rng = np.random.RandomState(0)
    for name in CLASS_NAMES:
        folder = root / name
        folder.mkdir()
        for index in range(160):
            image = rng.randint(0, 255, (20, 20, 3)).astype(np.uint8)
            tf.io.write_file(str(folder / f"{index}.png"), tf.io.encode_png(image))


data_dir = pathlib.Path(tempfile.mkdtemp())
write_images(data_dir)

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync


def get_label(file_path):
    parts = tf.strings.split(file_path, os.path.sep)
    return tf.argmax(tf.cast(parts[-2] == tf.constant(CLASS_NAMES), tf.int32))


def process_path(file_path):
    label = get_label(file_path)
    img = tf.io.decode_png(tf.io.read_file(file_path), channels=3)
    img = tf.image.resize(img, [IMG_SIZE, IMG_SIZE])
    return img / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    image = tf.image.random_brightness(image, 0.1)
    return image, label


list_ds = tf.data.Dataset.list_files(str(data_dir / "*/*.png"), shuffle=False)
train_ds = (
    list_ds.map(process_path, num_parallel_calls=AUTOTUNE)
    .cache()
    .shuffle(320)
    .repeat()
    .map(augment, num_parallel_calls=AUTOTUNE)
    .batch(batch_size, drop_remainder=True)
    .prefetch(buffer_size=AUTOTUNE)
)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((IMG_SIZE, IMG_SIZE, 3)),
            tf.keras.layers.Conv2D(16, 3, strides=2, activation="relu"),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(len(CLASS_NAMES), dtype="float32"),
        ]
    )
    model.compile(
        optimizer="adam",
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )

model.fit(
    train_ds,
    epochs=3,
    steps_per_epoch=12,
    callbacks=[
        tf.keras.callbacks.ModelCheckpoint("images/cp-{epoch:04d}.ckpt", save_weights_only=True),
        tf.keras.callbacks.TerminateOnNaN(),
    ],
)
