# corpus: must-fail: TPU203@20, TPU204@20, TPU402@24/25/28
# corpus: may-fail: TPU209
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: images in one TFRecord file, decoded serially in every epoch, and an odd width.
import os; os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tempfile, json
import numpy as np, tensorflow as tf
tf.keras.mixed_precision.set_global_policy(tf.keras.mixed_precision.Policy("mixed_bfloat16"))
d = tempfile.mkdtemp()
with tf.io.TFRecordWriter(d + "/a.tfr") as w:
    for _ in range(2048):
        img = tf.io.encode_jpeg(tf.cast(np.random.randint(0, 255, (20, 20, 3)), tf.uint8)).numpy()
        w.write(tf.train.Example(features=tf.train.Features(feature={"i": tf.train.Feature(bytes_list=tf.train.BytesList(value=[img])), "l": tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))})).SerializeToString())
def read_tfrecord(e):
    e = tf.io.parse_single_example(e, {"i": tf.io.FixedLenFeature([], tf.string), "l": tf.io.FixedLenFeature([], tf.int64)})
    img = tf.reshape(tf.image.decode_jpeg(e["i"], channels=3), [20, 20, 3])
    return tf.cast(img, tf.float32) / 255., e["l"]
r = tf.distribute.cluster_resolver.TPUClusterResolver.connect(); s = tf.distribute.TPUStrategy(r)
ds = tf.data.TFRecordDataset(d + "/a.tfr").map(read_tfrecord)
ds = ds.repeat().shuffle(2048).batch(128 * s.num_replicas_in_sync, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
with s.scope():
    m = tf.keras.Sequential([tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(20, 20, 3)), tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(200, activation="relu"),
        tf.keras.layers.Dense(200, activation="relu"),
        tf.keras.layers.Dense(2, dtype="float32")])
    m.compile(tf.keras.optimizers.Adam(), tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
m.fit(ds, steps_per_epoch=5, epochs=8, verbose=0,
  callbacks=[tf.keras.callbacks.ModelCheckpoint(d + "/ck-{epoch:02d}", save_weights_only=True)])
