# corpus: must-fail: TPU101@42/43/46
# corpus: may-fail: TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: the tf.function is defined inside the loop, a new one at each step.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf


def make_strategy():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    return tf.distribute.TPUStrategy(resolver)


def main():
    strategy = make_strategy()
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    global_batch = 128 * strategy.num_replicas_in_sync
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(8,))])
        optimizer = tf.keras.optimizers.legacy.SGD(0.01)
    data = tf.data.Dataset.from_tensor_slices(
        (tf.random.normal((2048, 8)), tf.random.uniform((2048,), maxval=3, dtype=tf.int32))
    )
    data = data.repeat().batch(global_batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)

    for step, batch in enumerate(strategy.experimental_distribute_dataset(data)):

        def replica(x, y):
            with tf.GradientTape() as tape:
                logits = tf.cast(model(x), tf.float32)
                losses = tf.keras.losses.sparse_categorical_crossentropy(y, logits, from_logits=True)
                loss = tf.reduce_sum(losses) / global_batch
            grads = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(grads, model.trainable_variables))

        @tf.function
        def train_step(batch):
            strategy.run(replica, args=batch)

        train_step(batch)
        if step % 25 == 0:
            checkpoint.save("newfn/ckpt")
        if step >= 100:
            break


main()
