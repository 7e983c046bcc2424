"""The two loops that users write: a @tf.function step under strategy.run, and Keras' fit.

Both run on Keras 3.8 or newer and on tf-keras (TF_USE_LEGACY_KERAS=1). `fit` of an older Keras 3
leaves the loss unscaled while gradients are summed over the replicas (keras#20609, fixed in
3.8.0), so it trains replicas times too fast, without an error. The custom loop scales its loss
itself and takes any Keras; its optimizer is built inside the scope, since Keras 3 cannot make
optimizer variables inside a replicated tf.function.
"""

from typing import Any

import tensorflow as tf

from tpudiag.reference.options import JobOptions


def custom(job: Any, options: JobOptions) -> float:
    """Train with a step of our own; the last loss."""
    model, optimizer, strategy = job.model, job.optimizer, job.strategy
    global_batch = job.global_batch

    def replica_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            logits = model(images, training=True)
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
            loss = tf.nn.compute_average_loss(losses, global_batch_size=global_batch)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    @tf.function  # type: ignore[untyped-decorator]
    def train_step(batch: Any) -> Any:
        losses = strategy.run(replica_step, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    iterator = iter(strategy.experimental_distribute_dataset(job.dataset))
    loss: Any = float("nan")
    for step in range(job.first_step, options.train_steps):
        # _r=1 makes it a root: the profiler counts all that runs below it as this step.
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            loss = train_step(next(iterator))
        job.step_done(step)
    # Read once, at the end: a read after each step would make the host wait for the device.
    return float(loss)


def fit(job: Any, options: JobOptions) -> float:
    """Train with Keras' fit; the last epoch's loss."""
    keras = tf.keras

    class StepMarker(keras.callbacks.Callback):  # type: ignore[misc, name-defined]
        """Marks each step for the profiler, which Keras 3 does not, and saves checkpoints."""

        def on_train_batch_begin(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self.trace = tf.profiler.experimental.Trace("train", step_num=batch, _r=1)
            self.trace.__enter__()

        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            self.trace.__exit__(None, None, None)
            job.step_done(job.first_step + batch)

    with job.strategy.scope():
        job.model.compile(
            job.optimizer, loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        )
    history = job.model.fit(
        job.dataset,
        epochs=1,
        steps_per_epoch=max(options.train_steps - job.first_step, 1),
        callbacks=[StepMarker()],
        verbose=0,
    )
    return float(history.history["loss"][-1])
