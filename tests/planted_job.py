"""The reference job with defects planted: `tpudiag check tests/planted_job.py -- DEFECT,DEFECT`."""

import sys
import tempfile
from collections.abc import Callable
from typing import Any

import tensorflow as tf

from tpudiag.reference import job, loops, models
from tpudiag.reference.options import JobOptions

Loop = Callable[[Any, JobOptions], float]


def by_python_step() -> Loop:
    """The custom loop, its step handed over as a number of Python's."""

    def train(prepared: Any, options: JobOptions) -> float:
        model, strategy, optimizer = prepared.model, prepared.strategy, prepared.optimizer

        def replica_step(batch: Any, _step: Any) -> Any:
            inputs, labels = batch
            with tf.GradientTape() as tape:
                logits = model(inputs, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                loss = tf.nn.compute_average_loss(losses, global_batch_size=prepared.global_batch)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        def train_step(batch: Any, step: Any) -> Any:
            losses = strategy.run(replica_step, args=(batch, step))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

        traced = tf.function(train_step)
        iterator = iter(strategy.experimental_distribute_dataset(prepared.dataset))
        loss: Any = 0.0
        for step in range(options.train_steps):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                loss = traced(next(iterator), step)
        return float(loss)

    return train


def use_loop(changed: Loop) -> None:
    """Train with another loop."""
    loops.custom = changed  # type: ignore[assignment]


def tf1() -> None:
    """A placeholder."""
    v1 = tf.compat.v1  # by another name: the script's source is read too
    with tf.Graph().as_default():
        v1.placeholder(tf.float32)


def outside_scope() -> None:
    """The model made before the strategy's scope is entered."""
    build = models.BUILDERS["mlp"]

    connect = job.connect

    def connected(tpu: str) -> Any:
        strategy = connect(tpu)
        model, spec = build(tf.keras, False)
        models.BUILDERS["mlp"] = lambda _keras, _full: (model, spec)
        return strategy

    job.connect = connected


def known_error() -> None:
    """The error of a client that is older than the TPU's TensorFlow."""
    raise RuntimeError("Op type not registered 'Foo' in binary running on n-1234-w-0.")


DEFECTS: dict[str, Callable[[], None]] = {
    "TPU001": tf1,
    "TPU101": lambda: use_loop(by_python_step()),
    "TPU501": outside_scope,
    "TPU605": known_error,
}

if __name__ == "__main__":
    for defect in sys.argv.pop(1).split(","):
        DEFECTS[defect]()
    job.main(["--checkpoint-dir", tempfile.mkdtemp(), *sys.argv[1:]])
