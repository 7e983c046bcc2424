# corpus: must-fail: TPU101@48
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the step number goes into the tf.function as a Python int.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

x = tf.random.normal((2048, 16))
y = tf.cast(x[:, 0] > 0, tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(16,))])
    optimizer = tf.keras.optimizers.legacy.SGD(0.1)

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "steps", max_to_keep=1)


@tf.function
def train_step(batch, step):
    def replica_step(x, y):
        decay = 0.999 ** tf.cast(step, tf.float32)
        with tf.GradientTape() as tape:
            logits = tf.cast(model(x), tf.float32)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
            loss = decay * tf.nn.compute_average_loss(losses, global_batch_size=batch_size)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    return strategy.reduce("SUM", strategy.run(replica_step, args=batch), axis=None)


iterator = iter(strategy.experimental_distribute_dataset(ds))
for step in range(100):
    loss = train_step(next(iterator), step)
    if step % 10 == 0:
        print(step, float(loss))
        manager.save()
