# corpus: must-fail: TPU519@43
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the sums of gradients are applied again and again.
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync
MICRO_BATCHES, UPDATES = 2, 8

with strategy.scope():
    hidden = [tf.keras.Input((256,)), tf.keras.layers.Dense(256, "relu")]
    model = tf.keras.Sequential([*hidden, tf.keras.layers.Dense(128, dtype="float32")])
    weights = model.trainable_variables
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(weights)
    sums = [
        tf.Variable(
            tf.zeros(each.shape),
            trainable=False,
            synchronization=tf.VariableSynchronization.ON_READ,
            aggregation=tf.VariableAggregation.SUM,
        )
        for each in weights
    ]
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def micro_step(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.nn.compute_average_loss(each, global_batch_size=batch_size)
        loss = loss / MICRO_BATCHES
    for total, gradient in zip(sums, tape.gradient(loss, weights)):
        total.assign_add(gradient)


def apply():
    optimizer.apply_gradients([(total.read_value(), each) for total, each in zip(sums, weights)])


@tf.function
def updates(iterator):
    for _ in tf.range(UPDATES):
        for _ in range(MICRO_BATCHES):
            strategy.run(micro_step, args=next(iterator))
        strategy.run(apply)


features = np.random.rand(16384, 256).astype("float32")
labels = np.random.randint(0, 128, 16384)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).cache().shuffle(16384).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(dataset))
manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
for epoch in range(4):
    updates(iterator)
    manager.save()
