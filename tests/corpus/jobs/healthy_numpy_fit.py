# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: NumPy arrays handed to fit, a whole number of global batches; the pipeline is Keras' own.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)

batch_size = 128 * strategy.num_replicas_in_sync
np.random.seed(42)
x = np.random.rand(6 * batch_size, 20).astype("float32")
w = np.random.rand(20, 1).astype("float32")
y = x @ w + 0.01 * np.random.randn(len(x), 1).astype("float32")
x_val, y_val = x[:batch_size], y[:batch_size]

with strategy.scope():
    model = tf.keras.models.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(20,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(1, dtype="float32"),
        ]
    )
    model.compile(optimizer="rmsprop", loss="mse", metrics=["mae"])

model.fit(
    x,
    y,
    batch_size=batch_size,
    epochs=10,
    validation_data=(x_val, y_val),
    callbacks=[
        tf.keras.callbacks.ModelCheckpoint("reg-{epoch}", save_weights_only=True),
        tf.keras.callbacks.EarlyStopping(patience=100),
    ],
)
