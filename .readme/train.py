"""The script of the picture in the README: it trains, and three things are wrong with it."""

import tensorflow as tf

tpu = tf.distribute.cluster_resolver.TPUClusterResolver("local")
tf.config.experimental_connect_to_cluster(tpu)
tf.tpu.experimental.initialize_tpu_system(tpu)
strategy = tf.distribute.TPUStrategy(tpu)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH = 1024


def decode(image, label):
    """Bytes to floats."""
    return tf.cast(image, tf.float32) / 255.0, label


images = tf.random.uniform((4096, 28, 28, 1), maxval=256, dtype=tf.int32)
labels = tf.random.uniform((4096,), maxval=10, dtype=tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((images, labels)).cache().repeat()
dataset = dataset.shuffle(4096).batch(GLOBAL_BATCH, drop_remainder=True)
dataset = dataset.map(decode).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Flatten(input_shape=(28, 28, 1)),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(10, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)
checkpoints = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=optimizer), "checkpoints", max_to_keep=3
)


@tf.function
def train_step(batch, step):
    """One step on all replicas."""

    def replica_step(image, label):
        with tf.GradientTape() as tape:
            logits = model(image, training=True)
            losses = tf.keras.losses.sparse_categorical_crossentropy(
                label, logits, from_logits=True
            )
            loss = tf.reduce_mean(losses)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    return strategy.reduce("MEAN", strategy.run(replica_step, batch), axis=None)


iterator = iter(strategy.experimental_distribute_dataset(dataset))
for step in range(200):
    loss = train_step(next(iterator), step)
    if step % 100 == 0:
        print(step, float(loss))
