# corpus: must-fail: TPU502@25/39/40
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a Keras loss with reduction="sum" that nobody divides by the global batch.
import tensorflow as tf
from tensorflow import keras

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

with strategy.scope():
    model = keras.Sequential(
        [
            keras.layers.Input((40,)),
            keras.layers.Dense(128, activation="relu"),
            keras.layers.Dense(1, dtype="float32"),
        ]
    )
    optimizer = keras.optimizers.Adam(1e-4)
    optimizer.build(model.trainable_variables)
    loss_fn = keras.losses.MeanSquaredError(reduction="sum")

x = tf.random.normal((4096, 40))
y = tf.reduce_sum(x, axis=1, keepdims=True)
ds = tf.data.Dataset.from_tensor_slices((x, y)).cache().shuffle(4096).repeat()
ds = ds.batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
iterator = iter(strategy.experimental_distribute_dataset(ds))
ckpt = tf.train.Checkpoint(model=model, optimizer=optimizer)


@tf.function
def train_step(iterator):
    def step_fn(x, y):
        with tf.GradientTape() as tape:
            loss = loss_fn(y, model(x, training=True))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
        return loss

    losses = strategy.run(step_fn, args=next(iterator))
    return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)


for step in range(100):
    loss = train_step(iterator)
    if step % 25 == 0:
        print(step, float(loss))
        ckpt.save("sum/ckpt")
