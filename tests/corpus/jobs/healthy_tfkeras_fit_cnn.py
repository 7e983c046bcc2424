# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v3-8
# corpus: why: tf-keras with BatchNorm, dropout, random augmentation layers after cache, steps_per_execution, and an epoch-stamped checkpoint.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
from tensorflow.keras import layers

AUTO = tf.data.AUTOTUNE

tpu = tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")
strategy = tf.distribute.TPUStrategy(tpu)

policy = tf.keras.mixed_precision.Policy("mixed_bfloat16")
tf.keras.mixed_precision.set_global_policy(policy)

GLOBAL_BATCH = 128 * strategy.num_replicas_in_sync
NUM_CLASSES = 10


def make_arrays(n, seed):
    rng = np.random.RandomState(seed)
    images = rng.randint(0, 256, size=(n, 12, 12, 3)).astype("uint8")
    labels = rng.randint(0, NUM_CLASSES, size=(n,)).astype("int64")
    return images, labels


def to_float(image, label):
    return tf.cast(image, tf.float32) / 255.0, label


def augment(image, label):
    image = tf.image.random_flip_left_right(image)
    return image, label


def training_dataset():
    ds = tf.data.Dataset.from_tensor_slices(make_arrays(12288, 1))
    ds = ds.map(to_float, num_parallel_calls=AUTO).cache()
    ds = ds.shuffle(12288).map(augment, num_parallel_calls=AUTO)
    return ds.batch(GLOBAL_BATCH, drop_remainder=True).prefetch(AUTO)


def validation_dataset():
    ds = tf.data.Dataset.from_tensor_slices(make_arrays(1024, 2))
    ds = ds.map(to_float, num_parallel_calls=AUTO)
    return ds.batch(GLOBAL_BATCH, drop_remainder=True).cache().prefetch(AUTO)


def conv_block(x, filters):
    x = layers.Conv2D(filters, 3, strides=2, padding="same", use_bias=False)(x)
    x = layers.BatchNormalization()(x)
    return layers.ReLU()(x)


def build():
    inputs = layers.Input((12, 12, 3))
    x = conv_block(inputs, 16)
    x = conv_block(x, 128)
    x = layers.GlobalAveragePooling2D()(x)
    x = layers.Dropout(0.2)(x)
    outputs = layers.Dense(NUM_CLASSES, activation="softmax", dtype="float32")(x)
    return tf.keras.Model(inputs, outputs)


with strategy.scope():
    model = build()
    model.compile(
        optimizer=tf.keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        loss="sparse_categorical_crossentropy",
        metrics=["accuracy"],
        steps_per_execution=4,
    )

model.summary()
callbacks = [
    tf.keras.callbacks.ModelCheckpoint("checkpoints/cnn-{epoch:03d}", save_weights_only=True),
    tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.1 * 0.9**epoch),
]
history = model.fit(
    training_dataset(), validation_data=validation_dataset(), epochs=10, callbacks=callbacks, verbose=2
)
