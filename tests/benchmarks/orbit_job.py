"""An Orbit loop of 50 steps a call, for `real_jobs.py`: Orbit comes with tf-models-official."""

from __future__ import annotations

import tempfile
from importlib import import_module
from typing import Any

import tensorflow as tf

orbit: Any = import_module("orbit")
STEPS, STEPS_PER_LOOP, GLOBAL_BATCH = 200, 50, 64


class Trainer(orbit.StandardTrainer, orbit.StandardEvaluator):  # type: ignore[misc]
    """Trains and evaluates a small model."""

    def __init__(self, strategy: Any) -> None:
        self.strategy = strategy
        with strategy.scope():
            self.model = tf.keras.Sequential([tf.keras.layers.Dense(64), tf.keras.layers.Dense(8)])
            self.model.build((None, 32))
            self.optimizer = tf.keras.optimizers.SGD(0.01)
            self.global_step = tf.Variable(
                0,
                trainable=False,
                dtype=tf.int64,
                aggregation=tf.VariableAggregation.ONLY_FIRST_REPLICA,
            )
            self.train_loss = tf.keras.metrics.Mean()
            self.eval_loss = tf.keras.metrics.Mean()
        train = strategy.distribute_datasets_from_function(self.dataset)
        orbit.StandardTrainer.__init__(self, train)
        orbit.StandardEvaluator.__init__(
            self, strategy.experimental_distribute_dataset(self.dataset().take(10))
        )

    @staticmethod
    def dataset(context: Any = None) -> Any:
        batch = context.get_per_replica_batch_size(GLOBAL_BATCH) if context else GLOBAL_BATCH
        examples = tf.data.Dataset.from_tensors((tf.ones((32,)), tf.constant(3)))
        return examples.repeat().batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)

    def losses(self, inputs: Any, training: bool) -> Any:
        features, labels = inputs
        logits = self.model(features, training=training)
        return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)

    def train_step(self, iterator: Any) -> None:
        def step(inputs: Any) -> None:
            with tf.GradientTape() as tape:
                each = self.losses(inputs, True)
                loss = tf.nn.compute_average_loss(each, global_batch_size=GLOBAL_BATCH)
            variables = self.model.trainable_variables
            gradients = tape.gradient(loss, variables)
            self.optimizer.apply_gradients(zip(gradients, variables, strict=True))
            self.train_loss.update_state(each)
            self.global_step.assign_add(1)

        self.strategy.run(step, args=(next(iterator),))

    def train_loop_end(self) -> dict[str, Any]:
        return {"loss": self.train_loss.result()}

    def eval_step(self, iterator: Any) -> None:
        def step(inputs: Any) -> None:
            self.eval_loss.update_state(self.losses(inputs, False))

        self.strategy.run(step, args=(next(iterator),))

    def eval_end(self) -> dict[str, Any]:
        return {"loss": self.eval_loss.result()}


def main() -> None:
    """Train and evaluate, with checkpoints."""
    resolver = tf.distribute.cluster_resolver.TPUClusterResolver("local")
    tf.config.experimental_connect_to_cluster(resolver)
    tf.tpu.experimental.initialize_tpu_system(resolver)
    strategy = tf.distribute.TPUStrategy(resolver)
    trainer = Trainer(strategy)
    checkpoint = tf.train.Checkpoint(model=trainer.model, optimizer=trainer.optimizer)
    with tempfile.TemporaryDirectory() as folder:
        manager = tf.train.CheckpointManager(
            checkpoint,
            folder,
            max_to_keep=2,
            step_counter=trainer.global_step,
            checkpoint_interval=100,
        )
        controller = orbit.Controller(
            trainer=trainer,
            evaluator=trainer,
            global_step=trainer.global_step,
            strategy=strategy,
            steps_per_loop=STEPS_PER_LOOP,
            checkpoint_manager=manager,
        )
        controller.train_and_evaluate(STEPS, eval_steps=5, eval_interval=100)
    assert int(trainer.global_step.numpy()) == STEPS
    print("trained", STEPS)


if __name__ == "__main__":
    main()
