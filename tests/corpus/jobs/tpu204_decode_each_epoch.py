# corpus: must-fail: TPU204@33
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: PNGs are decoded and resized anew in every epoch; the small set would fit in memory.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH_SIZE = 128 * strategy.num_replicas_in_sync
EPOCHS = 20

pngs = [tf.io.encode_png(np.random.randint(0, 255, (16, 16, 3)).astype("uint8")).numpy() for _ in range(64)]
encoded = tf.constant(pngs * 160)
labels = tf.constant(list(range(64)) * 160)


def load(data, label):
    image = tf.io.decode_png(data, channels=3)
    image = tf.image.resize(image, (8, 8))
    image = tf.ensure_shape(image, (8, 8, 3))
    return image / 255.0, label


dataset = tf.data.Dataset.from_tensor_slices((encoded, labels))
dataset = dataset.map(load, num_parallel_calls=tf.data.AUTOTUNE)
dataset = dataset.shuffle(10240)
dataset = dataset.batch(BATCH_SIZE, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(8, 8, 3)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(64, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))

model.fit(dataset, epochs=EPOCHS, callbacks=[tf.keras.callbacks.BackupAndRestore("png_backup")])
