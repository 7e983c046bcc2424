# corpus: must-fail: TPU605@33
# corpus: may-fail: TPU502
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: ends: error
# corpus: why: a tf-keras loss with the default reduction in a custom loop raises a well-known ValueError.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf

resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
tf.config.experimental_connect_to_cluster(resolver)
tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
batch_size = 128 * strategy.num_replicas_in_sync

ds = tf.data.Dataset.from_tensor_slices(
    (tf.random.normal((2048, 10)), tf.random.uniform((2048,), maxval=2, dtype=tf.int32))
)
ds = ds.shuffle(2048).repeat().batch(batch_size, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

with strategy.scope():
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(10,))])
    optimizer = tf.keras.optimizers.Adam()
    loss_object = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)


def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = loss_object(y, model(x, training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(grads, model.trainable_variables))
    return loss


@tf.function
def distributed(x, y):
    return strategy.run(train_step, args=(x, y))


for step, (x, y) in enumerate(strategy.experimental_distribute_dataset(ds)):
    distributed(x, y)
    if step % 50 == 0:
        checkpoint.save("err/ckpt")
