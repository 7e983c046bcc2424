"""A trainer to attach to: `live_trainer.py KIND PORT STEPS_FILE`; it says `ready` when it trains.

Kinds: loop and fit train, idle waits after its first step. Port 0 starts no profiler server.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import tensorflow as tf

kind, port, steps_file = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
if port:
    tf.profiler.experimental.server.start(port)
steps_file.touch()


def dataset() -> Any:
    """Endless batches of 32 examples."""
    numbers = tf.data.Dataset.range(256).repeat()
    rows = numbers.map(
        lambda n: (tf.ones([64]) * tf.cast(n, tf.float32), tf.cast(n % 2, tf.float32))
    )
    return rows.batch(32, drop_remainder=True).prefetch(4)


def passed(step: int) -> None:
    """Count a step, and leave the machine to others for a moment."""
    if step == 1:
        print("ready", flush=True)
    with steps_file.open("a") as file:
        file.write(".")
    time.sleep(0.01)


def loop() -> None:
    """A loop of its own, each step marked."""
    weights = tf.Variable(tf.random.normal([64, 1]))

    @tf.function
    def train_step(rows: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(rows, weights)[:, 0] - labels) ** 2)
        weights.assign_sub(1e-9 * tape.gradient(loss, weights))
        return loss

    iterator = iter(dataset())
    step = 0
    while True:
        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            float(train_step(*next(iterator)))
        step += 1
        passed(step)
        while kind == "idle":
            time.sleep(3600)


def fit() -> None:
    """Keras' own loop."""
    layers = tf.keras.layers
    model = tf.keras.Sequential([layers.Input((64,)), layers.Dense(16), layers.Dense(1)])
    model.compile("sgd", "mse")
    count = tf.keras.callbacks.LambdaCallback(
        on_train_batch_end=lambda batch, **_: passed(batch + 1)
    )
    model.fit(dataset(), steps_per_epoch=10**9, verbose=0, callbacks=[count])


(fit if kind == "fit" else loop)()
