# corpus: must-fail: none
# corpus: may-fail: TPU606
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: data is looked at and evaluated in odd batches beside a training pipeline in order.
import tempfile

import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
x = np.random.rand(4096, 40).astype("float32")
y = np.random.randint(0, 5, 4096)
for name in tf.data.Dataset.from_tensor_slices(["b.txt", "a.txt"]).take(2):
    print(name.numpy())
raw = tf.data.Dataset.from_tensor_slices((x, y))
for images, _ in raw.batch(9).take(1):
    print(images.shape)
train = raw.shuffle(4096).repeat().batch(1024, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
val = raw.map(lambda a, b: (a + tf.random.uniform(()), b)).batch(1000)
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.Input((40,)),
            tf.keras.layers.Dense(128, "relu"),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.evaluate(val)
save = tf.keras.callbacks.ModelCheckpoint(tempfile.mkdtemp() + "/{epoch}.weights.h5", save_weights_only=True)
model.fit(train, steps_per_epoch=10, epochs=10, validation_data=val, callbacks=[save])
