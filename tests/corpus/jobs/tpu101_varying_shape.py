# corpus: must-fail: TPU101@57/58
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: progressive resizing: the image size grows every fourth step, each size traces anew.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
BATCH = 128 * strategy.num_replicas_in_sync
SIZES = range(4, 34, 2)


def images_of(size):
    images = tf.random.uniform((1024, size, size, 3))
    labels = tf.random.uniform((1024,), maxval=5, dtype=tf.int32)
    ds = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1024).repeat()
    ds = ds.batch(BATCH, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    return iter(strategy.experimental_distribute_dataset(ds))


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((None, None, 3)),
            tf.keras.layers.Conv2D(128, 3, strides=2, padding="same", activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(5, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.Adam()

manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "sizes", max_to_keep=2)


@tf.function
def train_step(images, labels):
    def step_fn(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(step_fn, args=(images, labels))


iterators = {size: images_of(size) for size in SIZES}
for step in range(60):
    images, labels = next(iterators[SIZES[step // 4]])
    train_step(images, labels)
    if step % 20 == 0:
        manager.save()
