# corpus: must-fail: TPU107@61
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a counter of the replica's step decides when to apply gradients, and counts traces.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
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

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(256, activation="relu"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
manager = tf.train.CheckpointManager(
    tf.train.Checkpoint(model=model, optimizer=optimizer), "ckpt", max_to_keep=2
)


class Accumulation:
    def __init__(self):
        self.micro_steps = 0
        with strategy.scope():
            self.sums = [
                tf.Variable(
                    tf.zeros_like(variable),
                    trainable=False,
                    synchronization=tf.VariableSynchronization.ON_READ,
                    aggregation=tf.VariableAggregation.SUM,
                )
                for variable in model.trainable_variables
            ]

    def replica_step(self, x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH)
        gradients = tape.gradient(loss, model.trainable_variables)
        for total, gradient in zip(self.sums, gradients):
            total.assign_add(gradient / 4)
        self.micro_steps += 1
        if self.micro_steps % 4 == 0:
            gradients = [total.read_value() for total in self.sums]
            optimizer.apply_gradients(zip(gradients, model.trainable_variables))
            for total in self.sums:
                total.assign(tf.zeros_like(total))
        return loss


accumulation = Accumulation()


@tf.function
def train_step(batch):
    losses = strategy.run(accumulation.replica_step, args=batch)
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


iterator = iter(strategy.experimental_distribute_dataset(dataset))
for step in range(200):
    loss = train_step(next(iterator))
    if step % 100 == 0:
        print(step, float(loss))
        manager.save()
