# corpus: must-fail: TPU209@12/13
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a reader for each file, joined by concatenate.
import functools, os, tempfile
import numpy as np, tensorflow as tf
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
d = tempfile.mkdtemp()
for k in range(6):
    np.random.rand(400, 65).astype("<f4").tofile(f"{d}/{k}.bin")
def read(names):
    parts = [tf.data.FixedLengthRecordDataset(n, 65 * 4) for n in names]
    return functools.reduce(lambda a, b: a.concatenate(b), parts)
def decode(rec):
    v = tf.io.decode_raw(rec, tf.float32)
    v = tf.ensure_shape(v, (65,))
    return v[:64], v[64:]
res = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(res); tf.tpu.experimental.initialize_tpu_system(res)
strategy = tf.distribute.TPUStrategy(res)
ds = read(sorted(tf.io.gfile.glob(d + "/*.bin"))).map(decode, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(2400).repeat().batch(128 * strategy.num_replicas_in_sync, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
with strategy.scope():
    m = tf.keras.Sequential([tf.keras.Input((64,)), tf.keras.layers.Dense(128, "relu"), tf.keras.layers.Dense(1, dtype="float32")])
    m.compile("adam", "mse")
m.fit(ds, steps_per_epoch=8, epochs=5, verbose=0, callbacks=[tf.keras.callbacks.BackupAndRestore(tempfile.mkdtemp())])
