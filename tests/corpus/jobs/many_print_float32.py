# corpus: must-fail: TPU105@42, TPU403
# corpus: may-fail: TPU103 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: tf.print inside the replicated step calls back to the host at every step; no policy is set.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
GLOBAL_BATCH_SIZE = strategy.num_replicas_in_sync * 128

inputs = tf.random.normal((4096, 25))
targets = tf.cast(tf.reduce_mean(inputs, axis=1) > 0, tf.int32)
train_dataset = tf.data.Dataset.from_tensor_slices((inputs, targets)).shuffle(4096).repeat()
train_dataset = train_dataset.batch(GLOBAL_BATCH_SIZE, drop_remainder=True)
train_dataset = train_dataset.prefetch(tf.data.AUTOTUNE)
train_iterator = iter(strategy.experimental_distribute_dataset(train_dataset))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((25,)),
            tf.keras.layers.Dense(128, activation="tanh"),
            tf.keras.layers.Dense(2, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.Adam()


@tf.function
def train_step(iterator):
    def step_fn(x, y):
        with tf.GradientTape() as tape:
            logits = model(x, training=True)
            losses = tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=GLOBAL_BATCH_SIZE)
        tf.print("loss:", loss)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    x, y = next(iterator)
    strategy.run(step_fn, args=(x, y))


manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "print_ckpt", max_to_keep=1)
for step in range(100):
    train_step(train_iterator)
    if step % 50 == 0:
        manager.save()
