# corpus: must-fail: none
# corpus: must-not-fail: *
# corpus: for: v5e-8
# corpus: files: orbitlike.py
# corpus: why: model-garden style: a trainer class with train(num_steps), a controller, a tf.function loop, an evaluator.
"""Entry point in the style of the model garden."""
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import tensorflow as tf

import orbitlike


class Trainer(orbitlike.StandardTrainer):
    def __init__(self, strategy, global_batch):
        self.strategy = strategy
        self.global_batch = global_batch
        with strategy.scope():
            self.model = tf.keras.Sequential(
                [
                    tf.keras.layers.Input((48,)),
                    tf.keras.layers.Dense(128, activation="swish"),
                    tf.keras.layers.LayerNormalization(),
                    tf.keras.layers.Dense(128, activation="swish"),
                    tf.keras.layers.Dense(5, dtype="float32"),
                ]
            )
            self.optimizer = tf.keras.optimizers.experimental.AdamW(
                tf.keras.optimizers.schedules.CosineDecay(1e-3, 400), weight_decay=0.01
            )
            self.optimizer.build(self.model.trainable_variables)
            self.global_step = tf.Variable(
                0, trainable=False, dtype=tf.int64, aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA
            )
            self.train_loss = tf.keras.metrics.Mean("train_loss")
        dataset = strategy.experimental_distribute_dataset(self.build_dataset())
        super().__init__(dataset)

    def build_dataset(self):
        options = tf.data.Options()
        options.deterministic = False
        x = tf.random.normal((5000, 48), seed=3)
        y = tf.argmax(x[:, :5], axis=1, output_type=tf.int32)
        ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000).repeat()
        ds = ds.batch(self.global_batch, drop_remainder=True)
        return ds.with_options(options).prefetch(tf.data.AUTOTUNE)

    def train_loop_begin(self):
        self.train_loss.reset_states()

    def train_step(self, iterator):
        def step_fn(inputs):
            features, labels = inputs
            with tf.GradientTape() as tape:
                logits = self.model(features, training=True)
                losses = tf.keras.losses.sparse_categorical_crossentropy(labels, logits, from_logits=True)
                loss = tf.reduce_sum(losses) * (1.0 / self.global_batch)
            variables = self.model.trainable_variables
            grads = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(grads, variables))
            self.global_step.assign_add(1)
            self.train_loss.update_state(losses)

        self.strategy.run(step_fn, args=(next(iterator),))

    def train_loop_end(self):
        return {"loss": self.train_loss.result()}


def main():
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")

    trainer = Trainer(strategy, 128 * strategy.num_replicas_in_sync)
    checkpoint = tf.train.Checkpoint(model=trainer.model, optimizer=trainer.optimizer)
    manager = tf.train.CheckpointManager(checkpoint, "orbit_ckpt", max_to_keep=3)
    controller = orbitlike.Controller(trainer, manager, steps_per_loop=10)
    controller.train(steps=400)


if __name__ == "__main__":
    main()
