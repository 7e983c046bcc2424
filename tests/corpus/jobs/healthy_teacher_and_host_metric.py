# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a teacher made inside the scope and averaged weights; a metric of the host, by all replicas' results; GPU code that is not reached.
import tensorflow as tf

for gpu in tf.config.list_physical_devices("GPU"):
    tf.config.experimental.set_memory_growth(gpu, True)
try:
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
except ValueError:
    strategy = tf.distribute.MirroredStrategy()
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
GLOBAL_BATCH = 128 * strategy.num_replicas_in_sync

features = tf.random.stateless_normal((8192, 64), seed=(3, 4))
labels = tf.cast(tf.reduce_sum(features, axis=1) > 0, tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, labels))
    .shuffle(8192)
    .repeat()
    .batch(GLOBAL_BATCH, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)

mean_loss = tf.keras.metrics.Mean()
with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    teacher = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(512, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3, use_ema=True, ema_momentum=0.99)
    optimizer.build(model.trainable_variables)
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=optimizer), "ckpt", max_to_keep=2
)


def replica_step(x, y):
    with tf.GradientTape() as tape:
        logits = model(x, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        soft = tf.nn.softmax(tf.stop_gradient(teacher(x, training=False)))
        losses += tf.nn.softmax_cross_entropy_with_logits(soft, logits)
        loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    return loss


@tf.function
def train_step(batch):
    return strategy.run(replica_step, args=batch)


iterator = iter(strategy.experimental_distribute_dataset(dataset))
for step in range(200):
    loss = train_step(next(iterator))
    if step % 100 == 0:
        mean_loss.update_state(sum(float(part) for part in strategy.experimental_local_results(loss)))
        print(step, float(mean_loss.result()))
        manager.save()
