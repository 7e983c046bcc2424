# corpus: must-fail: TPU517@21
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the schedule is counted in epochs.
import tempfile
import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
EPOCHS = 4
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    hidden = [tf.keras.Input((256,)), tf.keras.layers.Dense(256, "relu")]
    last = tf.keras.layers.Dense(128, dtype="float32")
    model = tf.keras.Sequential([*hidden, last])
    rate = tf.keras.optimizers.schedules.CosineDecay(1e-3, decay_steps=EPOCHS)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(tf.keras.optimizers.Adam(rate), loss, steps_per_execution=16)

features = np.random.rand(16384, 256).astype("float32")
labels = np.random.randint(0, 128, 16384)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).cache().shuffle(16384).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
saving = tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())
model.fit(dataset, epochs=EPOCHS, steps_per_epoch=16, callbacks=[saving], verbose=2)
