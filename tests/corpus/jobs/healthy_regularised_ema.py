# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: weight decay added to the loss as the guide says (scaled by replicas), EMA, a step counter variable.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf
from tensorflow.keras import layers, regularizers


def get_tpu_strategy():
    try:
        tpu = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
        print("Running on TPU", tpu.master())
    except ValueError:
        return tf.distribute.get_strategy()
    tf.config.experimental_connect_to_cluster(tpu)
    tf.tpu.experimental.initialize_tpu_system(tpu)
    return tf.distribute.TPUStrategy(tpu)


class Training:
    def __init__(self, strategy, batch):
        self.strategy, self.batch = strategy, batch
        with strategy.scope():
            self.model = tf.keras.Sequential(
                [
                    layers.Input((10, 10)),
                    layers.Flatten(),
                    layers.Dense(128, "relu", kernel_regularizer=regularizers.l2(1e-4)),
                    layers.Dense(128, "relu", kernel_regularizer=regularizers.l2(1e-4)),
                    layers.Dense(1, dtype="float32"),
                ]
            )
            self.optimizer = tf.keras.optimizers.Adam(1e-3)
            self.optimizer.build(self.model.trainable_variables)
            self.averages = [tf.Variable(v, trainable=False) for v in self.model.trainable_variables]
            self.loss = tf.keras.metrics.Mean()

    def replica_step(self, x, y):
        with tf.GradientTape() as tape:
            prediction = tf.squeeze(self.model(x, training=True), -1)
            per_example = tf.nn.sigmoid_cross_entropy_with_logits(y, prediction)
            loss = tf.nn.compute_average_loss(per_example, global_batch_size=self.batch)
            loss += tf.nn.scale_regularization_loss(tf.add_n(self.model.losses))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        gradients = [tf.clip_by_value(g, -1.0, 1.0) for g in gradients]
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.loss.update_state(per_example)

    @tf.function
    def step(self, x, y):
        self.strategy.run(self.replica_step, args=(x, y))

    @tf.function
    def update_averages(self):
        for average, variable in zip(self.averages, self.model.trainable_variables):
            average.assign(0.99 * average + 0.01 * variable)


def main():
    strategy = get_tpu_strategy()
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
    batch = 128 * strategy.num_replicas_in_sync
    training = Training(strategy, batch)

    x = tf.random.normal((4096, 10, 10))
    y = tf.cast(x[:, 0, 0] > 0, tf.float32)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
    dataset = dataset.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

    step = tf.Variable(0, dtype=tf.int64, trainable=False)
    checkpoint = tf.train.Checkpoint(model=training.model, optimizer=training.optimizer, step=step)
    manager = tf.train.CheckpointManager(checkpoint, "reg_ckpt", max_to_keep=1)

    for x, y in strategy.experimental_distribute_dataset(dataset):
        training.step(x, y)
        step.assign_add(1)
        if step % 10 == 0:
            training.update_averages()
            tf.print("step", step, "loss", training.loss.result())
            manager.save(step)
        if step >= 300:
            break


main()
