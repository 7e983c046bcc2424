# corpus: must-fail: TPU502@39/44, TPU105@45, TPU601
# corpus: may-fail: TPU103 TPU202 TPU605
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: why: a custom loop with a mean loss, a print in the step, no prefetch and no checkpoint.
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf


class Trainer:
    def __init__(self):
        resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
        tf.config.experimental_connect_to_cluster(resolver)
        tf.tpu.experimental.initialize_tpu_system(resolver)
        self.strategy = tf.distribute.TPUStrategy(resolver)
        self.batch = 128 * self.strategy.num_replicas_in_sync
        tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
        with self.strategy.scope():
            self.model = tf.keras.Sequential(
                [
                    tf.keras.layers.Dense(128, activation="relu", input_shape=(15,)),
                    tf.keras.layers.Dense(2, dtype="float32"),
                ]
            )
            self.optimizer = tf.keras.optimizers.legacy.Adam(1e-3)

    def data(self):
        x = tf.random.normal((4096, 15))
        y = tf.cast(x[:, 2] > 0, tf.int32)
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(4096).repeat()
        ds = ds.batch(self.batch, drop_remainder=True)
        return self.strategy.experimental_distribute_dataset(ds)

    def forward(self, x, y):
        logits = self.model(x, training=True)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)
        return tf.reduce_mean(losses)

    def replica_step(self, x, y):
        with tf.GradientTape() as tape:
            loss = self.forward(x, y)
        gradients = tape.gradient(loss, self.model.trainable_variables)
        tf.print("loss on replica", loss)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))

    @tf.function
    def step(self, inputs):
        self.strategy.run(self.replica_step, args=inputs)

    def train(self, steps):
        for number, inputs in enumerate(self.data()):
            self.step(inputs)
            if number == steps:
                return


if __name__ == "__main__":
    Trainer().train(120)
