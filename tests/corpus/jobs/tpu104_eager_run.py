# corpus: must-fail: TPU104@45
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: strategy.run is called from plain Python: the tf.function is missing.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(16,)),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.SGD(0.1)


def train_step(inputs):
    x, y = inputs
    with tf.GradientTape() as tape:
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
        loss = tf.nn.compute_average_loss(losses, global_batch_size=batch_size)
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


x = tf.random.normal((2048, 16))
y = tf.cast(x[:, 0] > 0, tf.int32)
dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2048).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
for step, inputs in enumerate(strategy.experimental_distribute_dataset(dataset)):
    losses = strategy.run(train_step, args=(inputs,))
    loss = strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
    if step % 10 == 0:
        print(step, loss.numpy())
        checkpoint.save("eager/ckpt")
    if step == 60:
        break
