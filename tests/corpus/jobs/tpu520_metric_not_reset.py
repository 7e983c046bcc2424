# corpus: must-fail: TPU520@64
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: of two metrics of the evaluation one is never reset.
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
resolver = tf.distribute.cluster_resolver.TPUClusterResolver("")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
batch_size = 128 * strategy.num_replicas_in_sync
STEPS = 4

with strategy.scope():
    hidden = [tf.keras.Input((256,)), tf.keras.layers.Dense(256, "relu")]
    model = tf.keras.Sequential([*hidden, tf.keras.layers.Dense(128, dtype="float32")])
    optimizer = tf.keras.optimizers.Adam(1e-3)
    optimizer.build(model.trainable_variables)
    held_loss = tf.keras.metrics.Mean("held_loss")
    held_hits = tf.keras.metrics.SparseCategoricalAccuracy("held_hits")
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def train(features, labels):
    with tf.GradientTape() as tape:
        logits = model(features, training=True)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.nn.compute_average_loss(each, global_batch_size=batch_size)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))


def evaluate(features, labels):
    logits = model(features, training=False)
    held_loss.update_state(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    held_hits.update_state(labels, logits)


@tf.function
def epoch(iterator):
    for _ in tf.range(STEPS):
        strategy.run(train, args=next(iterator))


@tf.function
def evaluation(batch):
    strategy.run(evaluate, args=batch)


features = np.random.rand(16384, 256).astype("float32")
labels = np.random.randint(0, 128, 16384)
dataset = tf.data.Dataset.from_tensor_slices((features, labels)).cache().shuffle(16384).repeat()
dataset = dataset.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(dataset))
manager = tf.train.CheckpointManager(checkpoint, tempfile.mkdtemp(), max_to_keep=2)
for number in range(6):
    epoch(iterator)
    evaluation(next(iterator))
    print(number, float(held_loss.result()))
    print(number, float(held_hits.result()))
    held_loss.reset_state()
    manager.save()
