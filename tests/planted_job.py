"""The reference job with one defect planted: `tpudiag check tests/planted_job.py -- DEFECT`."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import tensorflow as tf

from tpudiag.reference import data, job, loops, models
from tpudiag.reference.options import JobOptions

Loop = Callable[[Any, JobOptions], float]


def loop(
    python_step: bool = False, eager: bool = False, mean_loss: bool = False, scaled: bool = False
) -> Loop:
    """The custom loop with one thing wrong."""

    def train(prepared: Any, options: JobOptions) -> float:
        model, strategy, optimizer = prepared.model, prepared.strategy, prepared.optimizer
        if scaled:
            with strategy.scope():
                optimizer = tf.keras.mixed_precision.LossScaleOptimizer(tf.keras.optimizers.Adam())
                optimizer.build(model.trainable_variables)

        def replica_step(batch: Any, _step: Any) -> Any:
            inputs, labels = batch
            with tf.GradientTape() as tape:
                logits = model(inputs, training=True)
                losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
                loss = tf.nn.compute_average_loss(losses, global_batch_size=prepared.global_batch)
                if mean_loss:
                    loss = tf.reduce_mean(losses)
                if scaled:
                    loss = optimizer.scale_loss(loss)
            gradients = tape.gradient(loss, model.trainable_variables)
            optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
            return loss

        def train_step(batch: Any, step: Any) -> Any:
            losses = strategy.run(replica_step, args=(batch, step))
            return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

        run = train_step if eager else tf.function(train_step)
        iterator = iter(strategy.experimental_distribute_dataset(prepared.dataset))
        loss: Any = 0.0
        for step in range(options.train_steps):
            with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
                loss = run(next(iterator), step if python_step else tf.constant(step))
        return float(loss)

    return train


def use_loop(changed: Loop) -> None:
    """Train with another loop."""
    loops.custom = changed  # type: ignore[assignment]


def use_pipeline(change: Callable[[Any, int], Any], spec_examples: int = 4096) -> None:
    """Feed another pipeline, made from the examples in order."""

    def pipeline(spec: data.DataSpec, global_batch: int) -> Any:
        numbers = tf.data.Dataset.range(spec_examples)
        examples = numbers.map(
            partial(data.example, spec=spec), num_parallel_calls=tf.data.AUTOTUNE
        )
        return change(examples.cache().shuffle(spec_examples).repeat(), global_batch)

    data.pipeline = pipeline


def slow(image: Any, label: Any) -> Any:
    """Work on each example, different every time: nothing to cache."""
    noise = tf.random.normal((256, 256))
    for _ in range(5):
        noise = tf.linalg.matmul(noise, noise)
    return image + 0 * tf.reduce_sum(noise), label


def serial(pipe: Any, batch: int) -> Any:
    """A map on one thread."""

    def shift(image: Any, label: Any) -> Any:
        return image + tf.random.normal([]), label

    pipe = pipe.map(shift)
    return pipe.batch(batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)


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


def narrow() -> None:
    """A hidden layer of 200."""

    def build(keras: Any, _full_size: bool) -> tuple[Any, data.DataSpec]:
        layers = keras.layers
        model = keras.Sequential(
            [
                layers.Input((784,)),
                layers.Dense(200, activation="relu"),
                layers.Dense(200, activation="relu"),
                layers.Dense(10, dtype="float32"),
            ]
        )
        return model, data.DataSpec((784,), 10)

    models.BUILDERS["mlp"] = build


def no_checkpoint() -> None:
    """Nothing is saved."""

    class NoManager:
        latest_checkpoint = None

        def __init__(self, *_: Any, **__: Any) -> None: ...
        def save(self, _step: int) -> None: ...

    tf.train.CheckpointManager = NoManager


def known_error() -> None:
    """The error of a client that is older than the TPU's TensorFlow."""
    raise RuntimeError("Op type not registered 'Foo' in binary running on n-1234-w-0.")


DEFECTS: dict[str, Callable[[], None]] = {
    "none": lambda: None,
    "TPU001": tf1,
    "TPU101": lambda: use_loop(loop(python_step=True)),
    "TPU102": lambda: use_pipeline(lambda pipe, n: pipe.batch(n).prefetch(tf.data.AUTOTUNE)),
    "TPU104": lambda: use_loop(loop(eager=True)),
    "TPU201": lambda: use_pipeline(
        lambda pipe, n: (
            pipe.map(slow, num_parallel_calls=tf.data.AUTOTUNE)
            .batch(n, drop_remainder=True)
            .prefetch(tf.data.AUTOTUNE)
        )
    ),
    "TPU202": lambda: use_pipeline(lambda pipe, n: pipe.batch(n, drop_remainder=True)),
    "TPU203": lambda: use_pipeline(serial),
    "TPU401": lambda: sys.argv.extend(["--replica-batch", "100"]),
    "TPU402": narrow,
    "TPU403": lambda: sys.argv.extend(["--precision", "float32"]),
    "TPU404": lambda: use_loop(loop(scaled=True)),
    "TPU501": outside_scope,
    "TPU502": lambda: use_loop(loop(mean_loss=True)),
    "TPU601": no_checkpoint,
    "TPU605": known_error,
}

if __name__ == "__main__":
    DEFECTS[sys.argv.pop(1)]()
    job.main(["--checkpoint-dir", tempfile.mkdtemp(), *sys.argv[1:]])
