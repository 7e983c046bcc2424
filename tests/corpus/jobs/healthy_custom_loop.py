# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: strategy.run in a tf.function, built optimizer, gradient clipping, step as a tensor, metrics, manager.
import time

import tensorflow as tf

cluster_resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(cluster_resolver)
tf.tpu.experimental.initialize_tpu_system(cluster_resolver)
strategy = tf.distribute.TPUStrategy(cluster_resolver)

tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

batch_size_per_replica = 128
global_batch_size = batch_size_per_replica * strategy.num_replicas_in_sync
train_steps = 200

features = tf.random.stateless_normal((4096, 64), seed=(1, 2))
targets = tf.cast(tf.reduce_sum(features, axis=1) > 0, tf.int32)
dataset = (
    tf.data.Dataset.from_tensor_slices((features, targets))
    .shuffle(4096, seed=7)
    .repeat()
    .batch(global_batch_size, drop_remainder=True)
    .prefetch(tf.data.AUTOTUNE)
)
train_iterator = iter(strategy.experimental_distribute_dataset(dataset))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((64,)),
            tf.keras.layers.Dense(128, activation="gelu"),
            tf.keras.layers.LayerNormalization(),
            tf.keras.layers.Dense(128, activation="gelu"),
            tf.keras.layers.Dense(2),
        ]
    )
    optimizer = tf.keras.optimizers.AdamW(learning_rate=3e-4, weight_decay=1e-4)
    optimizer.build(model.trainable_variables)
    training_loss = tf.keras.metrics.Mean("training_loss", dtype=tf.float32)
    training_accuracy = tf.keras.metrics.SparseCategoricalAccuracy("training_accuracy", dtype=tf.float32)


@tf.function
def train_step(iterator, step):
    """One distributed step."""

    def step_fn(inputs):
        x, y = inputs
        with tf.GradientTape() as tape:
            logits = tf.cast(model(x, training=True), tf.float32)
            per_example = tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
            loss = tf.nn.compute_average_loss(per_example, global_batch_size=global_batch_size)
        grads = tape.gradient(loss, model.trainable_variables)
        grads, _ = tf.clip_by_global_norm(grads, 1.0)
        optimizer.apply_gradients(list(zip(grads, model.trainable_variables)))
        training_loss.update_state(loss * strategy.num_replicas_in_sync)
        training_accuracy.update_state(y, logits)

    strategy.run(step_fn, args=(next(iterator),))
    return step + 1


checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "ckpt", max_to_keep=2)

step = tf.constant(0, dtype=tf.int64)
start = time.time()
while int(step) < train_steps:
    step = train_step(train_iterator, step)
    if int(step) % 10 == 0:
        tf.print("step", step, "loss", training_loss.result(), "acc", training_accuracy.result())
        training_loss.reset_state()
        training_accuracy.reset_state()
    if int(step) % 100 == 0:
        manager.save(checkpoint_number=step)
print("took", time.time() - start)
