# corpus: must-fail: TPU104@48, TPU207@28, TPU403, TPU601
# corpus: may-fail: TPU201 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: debugging leftovers: functions run eagerly, data from a generator, float32, nothing saved.
import argparse
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import numpy as np
import tensorflow as tf


def batches(examples):
    while True:
        order = np.random.permutation(examples)
        for index in order:
            yield np.full((16,), index / examples, dtype="float32"), np.int32(index % 3)


def main(args):
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    batch = 128 * strategy.num_replicas_in_sync
    signature = (tf.TensorSpec((16,), tf.float32), tf.TensorSpec((), tf.int32))
    ds = tf.data.Dataset.from_generator(lambda: batches(4096), output_signature=signature)
    ds = ds.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

    with strategy.scope():
        model = tf.keras.Sequential(
            [
                tf.keras.layers.Dense(128, activation="relu", input_shape=(16,)),
                tf.keras.layers.Dense(3),
            ]
        )
        optimizer = tf.keras.optimizers.legacy.SGD(0.01)

    def replica_step(x, y):
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, model(x, training=True))
            loss = tf.nn.compute_average_loss(losses, global_batch_size=batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))

    def train_step(inputs):
        strategy.run(replica_step, args=inputs)

    for number, inputs in enumerate(strategy.experimental_distribute_dataset(ds)):
        train_step(inputs)
        if number >= args.steps:
            break


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=60)
    main(parser.parse_args())
