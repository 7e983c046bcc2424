"""What meets in a loss: outputs of another kind than it takes, or each with all the others."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

HEAD = """
import keras, tf_keras
from tpudiag.sources.job.tensorflow.graphs import loss_inputs
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
mean, square, cast = tf.reduce_mean, tf.square, tf.cast
softmax_of = tf.nn.sparse_softmax_cross_entropy_with_logits

def traced(form, weights, *specs):
    @tf.function
    def step(*given):
        with tf.GradientTape() as tape:
            value = form(*given)
        return tape.gradient(value, weights())
    step.get_concrete_function(*specs)
    return watch.calls[-1]
"""
ENTROPIES = """
seen = {}
CLASSES, COLUMNS, ONES = tf.zeros(8, tf.int32), tf.one_hot([0] * 8, 4), tf.zeros((8, 1))

def noted(name, model, form):
    call = traced(lambda x: mean(form(model(x, training=True))),
                  lambda: model.trainable_variables, tf.TensorSpec((8, 3)))
    found = [each for each, _ in loss_inputs.read(tf, call)]
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

noted("softmax tf.nn", model(4, "softmax"), lambda y: softmax_of(labels=CLASSES, logits=y))
noted("softmax cast", model(4, "softmax"),
      lambda y: softmax_of(CLASSES, cast(cast(y, "bfloat16"), "float32")))
noted("sigmoid tf.nn", model(1, "sigmoid"),
      lambda y: tf.nn.sigmoid_cross_entropy_with_logits(ONES, y))
noted("right tf.nn", model(4, None), lambda y: softmax_of(labels=CLASSES, logits=y))
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


def test_each_loss_with_and_without_its_activation(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(HEAD + ENTROPIES)
    assert {name: found[1:] for name, found in seen.items()} == {
        name: WANTED.get(name.split()[0], []) for name in seen
    }
    unseen = {name for name, found in seen.items() if not found[0]}
    assert unseen == {"right entropy", "right variance"}


PAIRS = """
W = tf.Variable(tf.ones((4, 1)))
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
        specs = tf.TensorSpec((size, 4)), tf.TensorSpec((size,))
        call = traced(lambda x, y: form(x @ W, y), lambda: [W], *specs)
        found = loss_inputs.paired(call)
        seen.setdefault(name, []).append(None if found is None else found.rows)
V, LABELS = tf.Variable(tf.ones((4, 3))), tf.range(16)
LIKE = {
    "own": lambda x, z: mean(softmax_of(LABELS, tf.matmul(z @ V, x @ V, transpose_b=True) / 0.1)),
    "views": lambda x, z: mean(tf.nn.log_softmax(tf.concat([x, z], 0) @ V @ tf.transpose(
        tf.concat([x, z], 0) @ V))),
    "classes": lambda x, z: mean(softmax_of(LABELS, x @ V @ tf.ones((3, 16)))),
    "no softmax": lambda x, z: mean(square(tf.matmul(z @ V, x @ V, transpose_b=True))),
    "gram": lambda x, z: mean(tf.nn.softmax(tf.matmul(x @ V, x @ V, transpose_a=True))),
    "gathered": lambda x, z: mean(softmax_of(LABELS, tf.matmul(
        z @ V, tf.concat([x, x], 0) @ V, transpose_b=True))),
}
like = {}
for name, form in LIKE.items():
    call = traced(form, lambda: [V], *[tf.TensorSpec((16, 4))] * 2)
    found = loss_inputs.similarities(call)
    like[name] = None if found is None else found.rows
print(json.dumps([seen, like]))
"""
BROADCAST = ("squares", "difference", "of each", "weighted")


def test_predictions_that_meet_all_labels(in_tensorflow: InTensorFlow) -> None:
    seen, like = in_tensorflow(HEAD + PAIRS)
    assert {name: rows for name, rows in like.items() if rows in (16, 32)} == {
        "own": 16,
        "views": 32,
    }
    assert {name for name, rows in seen.items() if rows != [None, None]} == set(BROADCAST)
    assert all(seen[name] == [16, 0] for name in BROADCAST)
