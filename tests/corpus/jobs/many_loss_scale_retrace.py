# corpus: must-fail: TPU404@41, TPU101@64, TPU203@30
# corpus: may-fail: TPU201 TPU502 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: files: corpus_losses.py
# corpus: why: loss scaling, an epoch number as a Python int, a serial map; the loss lives in a helper module.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

from corpus_losses import scaled_cross_entropy

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync


def noisy(x, y):
    return x + tf.random.normal(tf.shape(x), stddev=0.05), y


x = tf.random.normal((2048, 20))
y = tf.random.uniform((2048,), maxval=4, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048).repeat()
ds = ds.batch(batch_size, drop_remainder=True)
ds = ds.map(noisy)
ds = ds.prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(20,)),
            tf.keras.layers.Dense(4, dtype="float32"),
        ]
    )
    optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.legacy.Adam())


@tf.function
def train_step(inputs, epoch):
    def replica_step(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            loss = scaled_cross_entropy(y, logits, batch_size)
            scaled_loss = optimizer.get_scaled_loss(loss)
        grads = optimizer.get_unscaled_gradients(tape.gradient(scaled_loss, model.trainable_variables))
        if epoch > 2:
            grads = [tf.clip_by_norm(grad, 1.0) for grad in grads]
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    losses = strategy.run(replica_step, args=inputs)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "scaled", max_to_keep=1)
for epoch in range(20):
    for _ in range(4):
        loss = train_step(next(iterator), epoch)
    manager.save()
    print(epoch, float(loss))
