"""A trainer to attach to: `live_trainer.py KIND PORT STEPS_FILE`; it says `ready` when it trains.

Kinds: loop and fit train, idle waits after its first step. Port 0 starts no profiler server.
"""

import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

kind, port, steps_file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
if port:
    tf.profiler.experimental.server.start(port)
steps_file.touch()


def example(number: Any) -> Any:
    """Row and label."""
    return tf.ones([64]) * tf.cast(number, tf.float32), tf.cast(number % 2, tf.float32)


def dataset() -> Any:
    """Endless batches of 32 examples."""
    rows = tf.data.Dataset.range(256).repeat().map(example)
    return rows.batch(32, drop_remainder=True).prefetch(4)


def passed(step: int) -> None:
    """Count a step, and leave the machine to others for a moment."""
    if step == 1:
        print("ready", flush=True)
    with steps_file.open("a") as file:
        file.write(".")
    time.sleep(0.05)


def loop() -> None:
    """A loop of its own, each step marked."""
    weights = tf.Variable(tf.random.normal([64, 1]))

    def train_step(rows: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(rows, weights)[:, 0] - labels) ** 2)
        weights.assign_sub(1e-9 * tape.gradient(loss, weights))
        return loss

    run = tf.function(train_step)
    iterator = iter(dataset())
    step = 0
    while True:
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(run(*next(iterator)))
        step += 1
        passed(step)
        while kind == "idle":
            time.sleep(3600)


def fit() -> None:
    """Keras' own loop."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((64,)), layers.Dense(16), layers.Dense(1)])
    model.compile("sgd", "mse")

    class Count(tf.keras.callbacks.Callback):  # type: ignore[misc]
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002
            passed(batch + 1)

    model.fit(dataset(), steps_per_epoch=10**9, verbose=0, callbacks=[Count()])


(fit if kind == "fit" else loop)()
