# corpus: must-fail: TPU102@17/18/19
# corpus: may-fail: TPU101
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: bucket_by_sequence_length gives each bucket a length of its own.
import tempfile
import numpy as np, tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
s = tf.distribute.TPUStrategy(tf.distribute.cluster_resolver.TPUClusterResolver.connect())
gb = 128 * s.num_replicas_in_sync
rng = np.random.default_rng(0)
lens = rng.integers(4, 31, 6000)
rt = tf.RaggedTensor.from_row_lengths(rng.integers(1, 200, lens.sum()), lens)
def load():
    ds = tf.data.Dataset.from_tensor_slices((rt, (lens > 15).astype("i4")))
    ds = ds.map(lambda t, y: (t, y), num_parallel_calls=tf.data.AUTOTUNE).shuffle(6000).repeat()
    ds = ds.bucket_by_sequence_length(
        lambda t, y: tf.shape(t)[0], bucket_boundaries=[9, 17, 25],
        bucket_batch_sizes=[gb] * 4, drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)
with s.scope():
    i = tf.keras.Input((None,), dtype="int64")
    x = tf.keras.layers.GlobalMaxPooling1D()(tf.keras.layers.Dense(128, "relu")(tf.keras.layers.Embedding(200, 128)(i)))
    m = tf.keras.Model(i, tf.keras.layers.Dense(2, dtype="float32")(x))
    m.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(load(), steps_per_epoch=10, epochs=5, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())])
