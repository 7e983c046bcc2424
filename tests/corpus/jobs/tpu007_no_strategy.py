# corpus: must-fail: TPU007@39
# corpus: may-fail: TPU106
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the flag that makes the strategy is off: the job trains on the host's CPU.
import tensorflow as tf

TPU_USED = False
GLOBAL_BATCH = 128 * 8

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
if TPU_USED:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
else:
    strategy = tf.distribute.get_strategy()

features = tf.random.stateless_normal((8192, 64), seed=(3, 4))
labels = tf.cast(tf.reduce_sum(features, axis=1) > 0, tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, labels))
    .shuffle(8192)
    .batch(GLOBAL_BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
saving = tf.keras.callbacks.ModelCheckpoint("model-{epoch}.weights.h5", save_weights_only=True)
model.fit(dataset, epochs=4, callbacks=[saving])
