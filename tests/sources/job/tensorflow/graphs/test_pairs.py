"""Where (n, 1) meets (n,), a loss is one of each prediction with each label."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.graphs import loss_inputs
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
W = tf.Variable(tf.ones((4, 1)))
mean, square = tf.reduce_mean, tf.square
FORMS = {
    "squares": lambda z, y: mean(square(z - y)),
    "difference": lambda z, y: tf.reduce_sum(tf.math.squared_difference(y, z)) / 16,
    "of each": lambda z, y: mean(mean(abs(z - y), axis=-1)),
    "weighted": lambda z, y: mean(square(z[:, 0]) * y[:, None]),
    "kernel": lambda z, y: mean(tf.exp(-square(z - y))),
    "nearest": lambda z, y: mean(tf.reduce_min(square(z - y), axis=1)),
    "ranking": lambda z, y: mean(square((z - z[:, 0]) * (y[:, None] - y))),
    "columns": lambda z, y: mean(square(z - y[:, None])),
    "lists": lambda z, y: mean(square(z[:, 0] - y)),
    "constant": lambda z, y: mean(square(z - tf.range(16.0))),
}
seen = {}
for name, form in FORMS.items():
    for size in (16, None):
        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                value = form(x @ W, y)
            return tape.gradient(value, [W])
        step.get_concrete_function(tf.TensorSpec((size, 4)), tf.TensorSpec((size,)))
        found = loss_inputs.paired(watch.calls[-1])
        seen.setdefault(name, []).append(None if found is None else found.rows)
V, LABELS = tf.Variable(tf.ones((4, 3))), tf.range(16)
entropy = tf.nn.sparse_softmax_cross_entropy_with_logits
LIKE = {
    "own": lambda x, z: mean(entropy(LABELS, tf.matmul(z @ V, x @ V, transpose_b=True) / 0.1)),
    "views": lambda x, z: mean(tf.nn.log_softmax(tf.concat([x, z], 0) @ V @ tf.transpose(
        tf.concat([x, z], 0) @ V))),
    "classes": lambda x, z: mean(entropy(LABELS, x @ V @ tf.ones((3, 16)))),
    "no softmax": lambda x, z: mean(square(tf.matmul(z @ V, x @ V, transpose_b=True))),
    "gram": lambda x, z: mean(tf.nn.softmax(tf.matmul(x @ V, x @ V, transpose_a=True))),
    "gathered": lambda x, z: mean(entropy(LABELS, tf.matmul(
        z @ V, tf.concat([x, x], 0) @ V, transpose_b=True))),
}
like = {}
for name, form in LIKE.items():
    @tf.function
    def step(x, z):
        with tf.GradientTape() as tape:
            value = form(x, z)
        return tape.gradient(value, [V])
    step.get_concrete_function(*[tf.TensorSpec((16, 4))] * 2)
    found = loss_inputs.similarities(watch.calls[-1])
    like[name] = None if found is None else found.rows
print(json.dumps([seen, like]))
"""
BROADCAST = ("squares", "difference", "of each", "weighted")


def test_predictions_that_meet_all_labels(in_tensorflow: Callable[[str], Any]) -> None:
    seen, like = in_tensorflow(PROGRAM)
    assert {name: rows for name, rows in like.items() if rows in (16, 32)} == {
        "own": 16,
        "views": 32,
    }
    assert {name for name, rows in seen.items() if rows != [None, None]} == set(BROADCAST)
    assert all(seen[name] == [16, 0] for name in BROADCAST)
