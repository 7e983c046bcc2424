# corpus: must-fail: TPU403
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: no dtype policy is set; everything computes in float32.
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
print("Number of replicas:", strategy.num_replicas_in_sync)

batch_size = 128 * strategy.num_replicas_in_sync
x = tf.random.normal((4096, 784))
y = tf.random.uniform((4096,), maxval=10, dtype=tf.int32)
train = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(4096).repeat()
train = train.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Input((784,)),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(128, activation="relu"),
            tf.keras.layers.Dense(10),
        ]
    )
    optimizer = tf.keras.optimizers.Adam()
    optimizer.build(model.trainable_variables)


@tf.function
def train_step(iterator):
    def step_fn(images, labels):
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            loss = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
            loss = tf.nn.compute_average_loss(loss, global_batch_size=batch_size)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))

    strategy.run(step_fn, args=next(iterator))


iterator = iter(strategy.experimental_distribute_dataset(train))
manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model, optimizer=optimizer), "f32", max_to_keep=1)
for step in range(100):
    train_step(iterator)
    if step % 50 == 0:
        manager.save()
