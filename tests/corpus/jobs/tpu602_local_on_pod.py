# corpus: must-fail: TPU602@33
# corpus: may-fail: TPU208 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-16
# corpus: why: checkpoints in /tmp of a pod's first host.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="train-pod")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((20,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(3, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)

x = tf.random.normal((4096, 20))
y = tf.random.uniform((4096,), maxval=3, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))

checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
manager = tf.train.CheckpointManager(checkpoint, "/tmp/train-pod-checkpoints", max_to_keep=2)


@tf.function
def train_step(iterator):
    def step_fn(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=batch_size)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(step_fn, args=next(iterator))


for step in range(60):
    train_step(iterator)
    if step % 20 == 0:
        manager.save()
