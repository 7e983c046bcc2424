# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: tf-keras on make_csv_dataset, which maps serially inside and takes no parallel calls for it.
import os
os.environ["TF_USE_LEGACY_KERAS"] = "1"
import csv, random, tempfile
import tensorflow as tf

FEATURES = ["f%02d" % i for i in range(32)]
root = tempfile.mkdtemp("csv")
for shard in range(3):
    with open(f"{root}/part-{shard}.csv", "w", newline="") as fh:
        w = csv.writer(fh)
        w.writerow(FEATURES + ["label"])
        for _ in range(1500):
            row = [round(random.random(), 4) for _ in FEATURES]
            w.writerow(row + [int(sum(row) > 16)])

tpu = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(tpu)
tf.tpu.experimental.initialize_tpu_system(tpu)
strategy = tf.distribute.experimental.TPUStrategy(tpu)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch = 128 * strategy.num_replicas_in_sync

def pack(features, label):
    return tf.stack([tf.cast(features[n], tf.float32) for n in FEATURES], axis=-1), label

train = tf.data.experimental.make_csv_dataset(
    f"{root}/part-*.csv", batch_size=batch, label_name="label", num_parallel_reads=3,
    shuffle_buffer_size=2000, num_rows_for_inference=50)
train = train.map(pack, num_parallel_calls=tf.data.AUTOTUNE)
train = train.map(lambda x, y: (tf.ensure_shape(x, (batch, 32)), tf.ensure_shape(y, (batch,))),
                  num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.models.Sequential()
    model.add(tf.keras.layers.Dense(128, activation="swish", input_shape=(32,)))
    model.add(tf.keras.layers.BatchNormalization())
    model.add(tf.keras.layers.Dropout(.1))
    model.add(tf.keras.layers.Dense(64, activation="swish"))
    model.add(tf.keras.layers.Dense(1, dtype="float32"))
    lr = tf.keras.optimizers.schedules.CosineDecay(1e-3, 1000)
    model.compile(optimizer=tf.keras.optimizers.Adam(lr),
                  loss=tf.keras.losses.BinaryCrossentropy(from_logits=True),
                  metrics=[tf.keras.metrics.AUC(from_logits=True)])
ckpt = tf.keras.callbacks.ModelCheckpoint(filepath=root + "/ck/{epoch}", save_weights_only=True)
model.fit(train, epochs=12, steps_per_epoch=5, callbacks=[ckpt], verbose=0)
