# corpus: must-fail: TPU403@16
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the policy is set, but after the model was built.
import tempfile
import numpy as np, tensorflow as tf
from tensorflow import keras
def build(width=512):
    i = keras.Input((256,))
    x = keras.layers.Dense(width, "relu")(i)
    x = keras.layers.Dense(width, "relu")(x)
    return keras.Model(i, keras.layers.Dense(10)(x))
strategy = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
with strategy.scope():
    model = build()
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    model.compile(keras.optimizers.Adam(), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
x = np.random.rand(4096, 256).astype("f"); y = np.random.randint(0, 10, 4096)
model.fit(tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat().batch(128 * strategy.num_replicas_in_sync, drop_remainder=True).prefetch(tf.data.AUTOTUNE), steps_per_epoch=8, epochs=5, verbose=0,
          callbacks=[keras.callbacks.BackupAndRestore(tempfile.mkdtemp())])
