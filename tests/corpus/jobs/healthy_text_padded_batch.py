# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-1
# corpus: why: token sequences of varying length padded to a fixed length, one attention head of 128, Keras 3 fit, one core.
import numpy as np
import tensorflow as tf
from tensorflow import keras

MAX_LEN = 128
VOCAB = 512
WIDTH = 128


def tokens(seed, count):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(20, MAX_LEN + 1, size=count)
    return tf.ragged.constant([rng.integers(1, VOCAB, size=n).tolist() for n in lengths], dtype=tf.int32)


def make_dataset(batch_size):
    sequences = tokens(0, 2048)
    labels = tf.cast(sequences.row_lengths() > 64, tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((sequences, labels))
    ds = ds.map(lambda s, y: (s.to_tensor() if isinstance(s, tf.RaggedTensor) else s, y),
                num_parallel_calls=tf.data.AUTOTUNE)
    ds = ds.shuffle(2048).repeat()
    ds = ds.padded_batch(batch_size, padded_shapes=([MAX_LEN], []), drop_remainder=True)
    return ds.prefetch(tf.data.AUTOTUNE)


def encoder():
    ids = keras.Input((MAX_LEN,), dtype="int32", name="input_ids")
    x = keras.layers.Embedding(VOCAB, WIDTH)(ids)
    x = x + keras.layers.Embedding(MAX_LEN, WIDTH)(tf.range(MAX_LEN))
    attended = keras.layers.MultiHeadAttention(num_heads=1, key_dim=WIDTH)(x, x)
    x = keras.layers.LayerNormalization()(x + attended)
    x = keras.layers.LayerNormalization()(x + keras.layers.Dense(WIDTH, activation="gelu")(x))
    x = keras.layers.GlobalAveragePooling1D()(x)
    logits = keras.layers.Dense(2, dtype="float32", name="classifier")(x)
    return keras.Model(ids, logits)


resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")

batch = 128 * strategy.num_replicas_in_sync
with strategy.scope():
    model = encoder()
    model.compile(
        optimizer=keras.optimizers.AdamW(5e-5),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
model.fit(
    make_dataset(batch),
    epochs=4,
    steps_per_epoch=10,
    callbacks=[keras.callbacks.ModelCheckpoint("text/epoch-{epoch:02d}.keras")],
)
