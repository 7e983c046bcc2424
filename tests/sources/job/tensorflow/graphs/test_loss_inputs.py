"""Cross-entropies that get another kind of output than they take."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf, keras, tf_keras
from tpudiag.sources.job.tensorflow.graphs import loss_inputs
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
seen, mean, cast = {}, tf.reduce_mean, tf.cast
CLASSES, COLUMNS, ONES = tf.zeros(8, tf.int32), tf.one_hot([0] * 8, 4), tf.zeros((8, 1))

def noted(name, model, form):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            value = mean(form(model(x, training=True)))
        return tape.gradient(value, model.trainable_variables)
    step.get_concrete_function(tf.TensorSpec((8, 3)))
    found = [each for each, _ in loss_inputs.read(tf, watch.calls[-1])]
    seen[name] = [len(found), *sorted({(each.activation, each.wants) for each in found if each})]

for library in (keras, tf_keras):
    losses, name = library.losses, library.__name__

    def model(units, activation):
        layers = [library.layers.Dense(5, "relu"), library.layers.Dense(units, activation)]
        return library.Sequential([library.layers.Input((3,)), *layers])

    KINDS = {
        "classes": (losses.SparseCategoricalCrossentropy, "softmax", 4, CLASSES),
        "columns": (losses.CategoricalCrossentropy, "softmax", 4, COLUMNS),
        "binary": (losses.BinaryCrossentropy, "sigmoid", 1, ONES),
    }
    for kind, (loss, activation, units, labels) in KINDS.items():
        noted(f"right {name} {kind}", model(units, activation), lambda y: loss()(labels, y))
        noted(f"scores {name} {kind}", model(units, None),
              lambda y: loss(from_logits=True)(labels, y))
        noted(f"none {name} {kind}", model(units, None), lambda y: loss()(labels, y))
        noted(f"{activation} {name} {kind}", model(units, activation),
              lambda y: loss(from_logits=True)(labels, tf.reshape(y, (8, -1))))

twice = tf.nn.sparse_softmax_cross_entropy_with_logits
noted("softmax tf.nn", model(4, "softmax"), lambda y: twice(labels=CLASSES, logits=y))
noted("softmax cast", model(4, "softmax"),
      lambda y: twice(CLASSES, cast(cast(y, "bfloat16"), "float32")))
noted("sigmoid tf.nn", model(1, "sigmoid"),
      lambda y: tf.nn.sigmoid_cross_entropy_with_logits(ONES, y))
noted("right tf.nn", model(4, None), lambda y: twice(labels=CLASSES, logits=y))
noted("right entropy", model(4, "softmax"), lambda y: -tf.reduce_sum(y * tf.math.log(y), -1))
noted("right variance", model(1, None), lambda y: tf.math.log(tf.clip_by_value(y, 1e-6, 1e3)))
noted("right teacher", model(4, None), lambda y: tf.nn.softmax_cross_entropy_with_logits(
    labels=tf.nn.softmax(tf.ones((8, 4))), logits=y))
print(json.dumps(seen))
"""
WANTED = {
    "softmax": [["softmax", "scores"]],
    "sigmoid": [["sigmoid", "scores"]],
    "none": [["none", "probabilities"]],
}


def test_each_loss_with_and_without_its_activation(in_tensorflow: Callable[[str], Any]) -> None:
    seen = in_tensorflow(PROGRAM)
    assert {name: found[1:] for name, found in seen.items()} == {
        name: WANTED.get(name.split()[0], []) for name in seen
    }
    unseen = {name for name, found in seen.items() if not found[0]}
    assert unseen == {"right entropy", "right variance"}
