"""How a differentiated loss is scaled, in the ways in which people write one."""

from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.model import Location
from tpudiag.signals import Batch
from tpudiag.sources.job.tensorflow.graphs.loss import Term, divided_again, weighed

PROGRAM = """
from tpudiag.signals import Batch
from tpudiag.sources.job.tensorflow.graphs import loss
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
n, R = 16, 8
G = n * R
example = tf.nn.sparse_softmax_cross_entropy_with_logits
K = tf.keras.losses
W, V, A = tf.Variable(tf.ones((4, 10))), tf.Variable(tf.ones((n, n))), tf.Variable(0.5)
mean, total, square = tf.reduce_mean, tf.reduce_sum, tf.square
def masked(y, z, eps=0.0):
    mask = tf.cast(y > 0, tf.float32)
    return total(example(y, z) * mask) / (total(mask) + eps if eps else total(mask))
def dice(y, z, axis=None):
    p, t = tf.nn.softmax(z), tf.one_hot(y, 10)
    return 1 - mean((2 * total(p * t, axis) + 1.0) / (total(p, axis) + total(t, axis) + 1.0))
def slope(z):
    with tf.GradientTape() as inner:
        inner.watch(z)
        score = total(square(z), -1)
    return inner.gradient(score, z)
@tf.function
def nested(y, z):
    return mean(example(y, z))
FORMS = {
    "average_loss": lambda y, z: tf.nn.compute_average_loss(example(y, z), global_batch_size=G),
    "sum / global": lambda y, z: total(example(y, z)) / G,
    "sum * constant": lambda y, z: total(example(y, z)) * (1.0 / G),
    "mean / replicas": lambda y, z: mean(example(y, z)) / R,
    "divided first": lambda y, z: total(example(y, z) / G),
    "multiplied first": lambda y, z: total(example(y, z) * (1 / G)),
    "keras none": lambda y, z: total(
        K.SparseCategoricalCrossentropy(from_logits=True, reduction="none")(y, z)) / G,
    "scaled regulariser": lambda y, z: total(example(y, z)) / G + 0.01 * tf.nn.l2_loss(V) / R,
    "regulariser": lambda y, z: total(example(y, z)) / G + 0.01 * mean(square(V)),
    "two in one": lambda y, z: tf.nn.compute_average_loss(
        example(y, z) + 0.5 * mean(square(z), axis=-1), global_batch_size=G),
    "two, weighted, scaled": lambda y, z: (mean(example(y, z)) + 0.1 * mean(square(z))) / R,
    "with a penalty": lambda y, z: (mean(example(y, z)) + 9.0 * mean(square(slope(z)))) / R,
    "by all values": lambda y, z: total(square(z)) / (G * 10),
    "by the shape": lambda y, z: total(example(y, z)) / (tf.cast(tf.shape(y)[0], tf.float32) * R),
    "called function, scaled": lambda y, z: nested(y, z) / R,
    "sum over values": lambda y, z: total(total(square(z), -1)) / G,
    "average_loss of values": lambda y, z: tf.nn.compute_average_loss(
        square(z), global_batch_size=G),
    "of two halves": lambda y, z: tf.nn.compute_average_loss(
        0.5 * (example(y, z) + example(y, -z)), global_batch_size=n),
    "distilled": lambda y, z: (0.3 * total(example(y, z)) + 2.8 * total(square(z))) * (1 / G),
    "scaled root": lambda y, z: tf.sqrt(mean(square(z))) / R,
    "scaled ratio": lambda y, z: dice(y, z) / R,
    "of noise, scaled": lambda y, z: total(square(tf.random.normal((n, 4)) @ W)) / (G * 10),
    "of noise": lambda y, z: mean(square(tf.random.normal((n, 4)) @ W)),
    "learned weight": lambda y, z: A * mean(example(y, z)),
    "mean": lambda y, z: mean(example(y, z)),
    "sum": lambda y, z: total(example(y, z)),
    "vector": lambda y, z: example(y, z),
    "keras mean": lambda y, z: K.SparseCategoricalCrossentropy(from_logits=True)(y, z),
    "mean over all": lambda y, z: mean(square(z)),
    "weighted mean": lambda y, z: masked(y, z),
    "weighted mean with epsilon": lambda y, z: masked(y, z, 1e-6),
    "two, weighted": lambda y, z: mean(example(y, z)) + 0.1 * mean(square(z)),
    "dice of each": lambda y, z: dice(y, z, axis=-1),
    "dice of the batch": dice,
    "difference": lambda y, z: mean(z[:, 0]) - mean(z[:, 1]),
    "root": lambda y, z: tf.sqrt(mean(square(z))),
    "flattened": lambda y, z: mean(tf.reshape(square(z), [-1])),
    "boolean mask": lambda y, z: mean(tf.boolean_mask(example(y, z), y > 0)),
    "called function": nested,
    "list": lambda y, z: total([mean(example(y, z)), 0.5 * mean(square(z))]),
    "by its own shape": lambda y, z: total(example(y, z)) / tf.cast(tf.shape(y)[0], tf.float32),
    "half": lambda y, z: 0.5 * mean(square(z)),
    "divided gradients": lambda y, z: mean(example(y, z)),
}
scales = {}
for name, form in FORMS.items():
    for size in (n, None):
        watch.calls.clear()
        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                value = form(y, x @ W)
            (gradient,) = tape.gradient(value, [W])
            return gradient / R if name == "divided gradients" else gradient
        step.get_concrete_function(tf.TensorSpec((size, 4)), tf.TensorSpec((size,), tf.int32))
        read = loss.scales(tf, watch.calls, Batch(G, n, R), False) or ()
        scales[f"{name} of {size}"] = [[s.weight, s.linear, s.gradients_averaged] for s in read]
print(json.dumps(scales))
"""
SCALED = (
    "average_loss", "sum / global", "sum * constant", "mean / replicas", "divided first",
    "multiplied first", "keras none", "scaled regulariser", "regulariser", "two in one",
    "two, weighted, scaled", "by all values", "by the shape", "called function, scaled",
    "distilled", "of noise, scaled", "with a penalty",
)  # fmt: skip
MEANS = (
    "mean", "keras mean", "mean over all", "weighted mean", "two, weighted", "dice of each",
    "difference", "flattened", "boolean mask", "called function", "list", "by its own shape",
    "half", "of noise", "of two halves",
)  # fmt: skip
CURVED = ("weighted mean with epsilon", "dice of the batch", "root")
UNKNOWN = ("scaled root", "scaled ratio", "learned weight")
SIZES = ("16", "None")


@pytest.fixture(scope="module")
def scales(in_tensorflow: InTensorFlow) -> dict[str, list[Any]]:
    read: dict[str, list[Any]] = in_tensorflow(PROGRAM)
    return read


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
def test_forms_of_a_loss(scales: dict[str, list[Any]], size: str) -> None:
    read = {name.removesuffix(f" of {size}"): of for name, of in scales.items()}
    assert {name: read[name] for name in SCALED} == {k: [[1 / 8, True, False]] for k in SCALED}
    assert {name: read[name] for name in MEANS} == {k: [[1.0, True, False]] for k in MEANS}
    assert {name: read[name] for name in CURVED} == {k: [[1.0, False, False]] for k in CURVED}
    assert {name: read[name] for name in UNKNOWN} == {k: [] for k in UNKNOWN}
    assert read["sum"] == read["vector"] == [[16.0, True, False]]
    assert read["sum over values"] == [[1 / 8, True, False]]
    assert read["average_loss of values"] == [[10 / 8, True, False]]
    assert read["divided gradients"] == [[1.0, True, True]]


BATCH = Batch(128, 16, 8)


@pytest.mark.parametrize(
    ("term", "averaged", "weight"),
    [
        (Term(base=1.0), False, 1.0),
        (Term(base=1.0, constants=(1 / 8,)), False, 1 / 8),
        (Term(base=1.0, constants=(1 / 8, 0.3)), False, 1 / 8),
        (Term(base=1.0, constants=(0.3,)), False, 1.0),
        (Term(base=1.0, constants=(4.0, 0.5)), False, 1.0),
        (Term(base=1.0, constants=(1 / 128,)), False, 1 / 128),
        (Term(base=16.0, constants=(1 / 128,)), False, 1 / 8),
        (Term(base=16.0, constants=(1 / 16,)), False, 1.0),
        (Term(base=16.0), False, 16.0),
        # Of two halves, say, of each example's loss.
        (Term(base=16.0, constants=(1 / 16, 0.5), inside=1, unmeant=True), False, 1.0),
        (Term(base=16.0, constants=(1 / 128, 0.5), inside=1, unmeant=True), False, 1 / 8),
        (Term(base=16.0, constants=(1 / 1000,)), False, None),
        (Term(base=160.0, per_example=10, constants=(1 / 1280,)), False, 1 / 8),
        (Term(base=1.0, known=False), False, None),
        (Term(base=1.0, linear=False), False, 1.0),
        (Term(base=1.0, linear=False, constants=(0.125,)), False, None),
        (Term(base=1.0), True, 1.0),
        (Term(base=1.0, constants=(1 / 8,)), True, 1 / 8),
        (Term(base=1.0, constants=(0.3,)), True, 1.0),
    ],
)
def test_what_constants_tell(term: Term, averaged: bool, weight: float | None) -> None:
    scale = weighed(term, BATCH, averaged)
    assert (scale and scale.weight) == (weight and pytest.approx(weight))


@pytest.mark.parametrize(
    ("base", "constants", "named", "again"),
    [
        (16.0, (1 / 8, 1 / 128), (1 / 8,), True),
        (1.0, (1 / 8, 1 / 8), (1 / 8, 1 / 8), True),
        (1.0, (1 / 8, 1 / 8), (1 / 8,), False),
        (16.0, (1 / 8, 1 / 128), (1 / 128,), False),
        (16.0, (1 / 128,), (1 / 128,), False),
    ],
)
def test_a_loss_is_divided_by_the_replicas_again_where_each_such_line_names_them(
    base: float, constants: tuple[float, ...], named: tuple[float, ...], again: bool
) -> None:
    line = Location("train.py", 7)
    term = Term(base=base, constants=constants, named=tuple((each, line) for each in named))
    assert divided_again(term, 8) == (line if again else None)
    scale = weighed(term, BATCH, False, again=line)
    assert scale and scale.location == line
    assert scale.weight == pytest.approx(1 / 64 if len(constants) > 1 else 1 / 8)
