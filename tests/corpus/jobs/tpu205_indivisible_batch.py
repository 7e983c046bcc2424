# corpus: must-fail: TPU205@22
# corpus: may-fail: TPU401 TPU102 TPU101 TPU502
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a global batch of 1,020 does not divide by 8 replicas.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

BATCH_SIZE = 1020

x = tf.random.normal((8160, 20))
y = tf.random.uniform((8160,), maxval=3, dtype=tf.int32)
ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(8160).repeat()
ds = ds.batch(BATCH_SIZE, drop_remainder=True)
ds = ds.prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))

with strategy.scope():
    model = tf.keras.Sequential(
        [
            tf.keras.layers.Dense(128, activation="relu", input_shape=(20,)),
            tf.keras.layers.Dense(3, dtype="float32"),
        ]
    )
    optimizer = tf.keras.optimizers.legacy.SGD(0.1)


@tf.function
def train_step(iterator):
    def fn(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=BATCH_SIZE)
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    losses = strategy.run(fn, args=next(iterator))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)
for i in range(100):
    loss = train_step(iterator)
    if i % 20 == 0:
        print(i, float(loss))
        ckpt.save("indivisible/ckpt")
