# corpus: must-fail: TPU102@27
# corpus: may-fail: TPU101 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: padded_batch pads to the longest sequence of each batch; the length is unknown.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

BATCH_SIZE = 128 * strategy.num_replicas_in_sync
rng = np.random.default_rng(0)
lengths = np.minimum(rng.geometric(0.05, size=2048), 200)
ragged = tf.ragged.constant([rng.integers(1, 256, n).tolist() for n in lengths], dtype=tf.int32)
labels = (lengths > 20).astype("int32")

ds = tf.data.Dataset.from_tensor_slices((ragged, labels))
ds = ds.map(lambda ids, label: (ids + 0, label), num_parallel_calls=tf.data.AUTOTUNE)
ds = ds.cache().shuffle(2048).repeat()
ds = ds.padded_batch(BATCH_SIZE, padded_shapes=([None], []), drop_remainder=True)
ds = ds.prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Embedding(256, 128, mask_zero=True, input_length=None),
            tf.keras.layers.GlobalAveragePooling1D(),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.Adam(1e-3)
    model.build((None, None))

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "text_ckpt", max_to_keep=1)


@tf.function(reduce_retracing=True)
def train_step(ids, labels):
    def step_fn(ids, labels):
        with tf.GradientTape() as tape:
            logits = model(ids, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH_SIZE)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(step_fn, args=(ids, labels))


steps = 0
for ids, labels in strategy.experimental_distribute_dataset(ds):
    train_step(ids, labels)
    steps += 1
    if steps % 20 == 0:
        manager.save()
    if steps == 100:
        break
