# corpus: must-fail: TPU612@35
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the metric is named roc, and no best model is ever saved.
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    hidden = [tf.keras.Input((256,)), tf.keras.layers.Dense(256, "relu")]
    last = tf.keras.layers.Dense(1, dtype="float32")
    model = tf.keras.Sequential([*hidden, last])
    loss = tf.keras.losses.BinaryCrossentropy(from_logits=True)
    metrics = [tf.keras.metrics.AUC(from_logits=True, name="roc")]
    model.compile("adam", loss, metrics=metrics, steps_per_execution=16)

features = np.random.rand(16384, 256).astype("float32")
labels = np.random.randint(0, 2, (16384, 1))
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).cache().shuffle(16384).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
held_out = tf.data.Dataset.from_tensor_slices((features[:2048], labels[:2048]))
held_out = held_out.batch(batch_size, drop_remainder=True).cache().prefetch(tf.data.AUTOTUNE)
folder = tempfile.mkdtemp()
stop = tf.keras.callbacks.EarlyStopping(monitor="val_roc", mode="max", patience=3)
saving = [
    tf.keras.callbacks.BackupAndRestore(folder + "/backup"),
    tf.keras.callbacks.ModelCheckpoint(
        folder + "/best.keras", monitor="val_auc", mode="max", save_best_only=True
    ),
]
model.fit(
    dataset,
    epochs=4,
    steps_per_epoch=16,
    validation_data=held_out,
    verbose=2,
    callbacks=[stop, *saving],
)
