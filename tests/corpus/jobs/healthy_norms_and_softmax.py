# corpus: must-fail: none
# corpus: may-fail: TPU401, TPU402
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: batch normalisation over all replicas, and one that is frozen; bfloat16 everywhere but in the softmax of the last layer, attention's softmax too.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH = 8 * strategy.num_replicas_in_sync

features = tf.random.stateless_normal((8192, 64), seed=(3, 4))
labels = tf.cast(tf.reduce_sum(features, axis=1) > 0, tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, labels))
    .shuffle(8192)
    .repeat()
    .batch(GLOBAL_BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

class Attention(tf.keras.layers.Layer):
    def call(self, x):
        weights = tf.nn.softmax(tf.matmul(x, x, transpose_b=True) / 11.3)
        return tf.matmul(weights, x)


with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Reshape((4, 16)),
            tf.keras.layers.Dense(128, activation="relu"),
            Attention(),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(256),
            tf.keras.layers.BatchNormalization(synchronized=True),
            tf.keras.layers.Activation("relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.BatchNormalization(trainable=False),
            tf.keras.layers.Dense(2),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=optimizer), "ckpt", max_to_keep=2
)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        logits = tf.cast(model(x, training=True), tf.float32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(batch):
    losses = strategy.run(replica_step, args=batch)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


iterator = iter(strategy.experimental_distribute_dataset(dataset))
for step in range(200):
    loss = train_step(next(iterator))
    if step % 100 == 0:
        print(step, float(loss))
        manager.save()
