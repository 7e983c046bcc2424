# corpus: must-fail: TPU207@27/28
# corpus: may-fail: TPU201
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the pipeline's source is a Python generator.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync


def sines():
    rng = np.random.default_rng()
    while True:
        phase, label = rng.random(), rng.integers(0, 2)
        yield np.sin(np.linspace(0, 6.28 * (1 + label), 32) + phase).astype("float32"), np.int32(label)


dataset = tf.data.Dataset.from_generator(
    sines,
    output_signature=(
        tf.TensorSpec((32,), tf.float32),
        tf.TensorSpec((), tf.int32),
    ),
)
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(32,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(
    dataset,
    steps_per_epoch=15,
    epochs=3,
    callbacks=[tf.keras.callbacks.ModelCheckpoint("sines-{epoch}", save_weights_only=True)],
)
