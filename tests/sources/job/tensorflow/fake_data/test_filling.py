"""Holes are filled where a model or a step is given them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import json, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data.filling import Filling
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole, batch_of
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

BATCH_SIZE = 8
keras = tf.keras
filling = Filling(tf, Ledger(tempfile.mkdtemp(), lambda **_: None))
filling.watch_keras(keras)

class Own(keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = keras.layers.Dense(3)

    def call(self, x):
        return self.dense(x)

class Stepped(keras.Model):
    def train_step(self, data):
        x, y = data
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.cast(y[:, None], tf.float32) - self(x)))
        self.optimizer.apply_gradients(
            zip(tape.gradient(loss, self.trainable_variables), self.trainable_variables)
        )
        return {"own": loss}

class Passing(Own):
    def call(self, x, labels=None):
        given, lost = self.dense(x), tf.nn.sparse_softmax_cross_entropy_with_logits
        return given if labels is None else lost(labels, given)

    def train_step(self, data):
        x, y = data
        self(x, labels=y)
        return {"passed on": 0.0}

def passed_on(_, loss):
    return loss

def fitted(model):
    model.compile("sgd", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(Hole().shuffle(9).batch(4), steps_per_epoch=2, epochs=1, verbose=0)
    return int(model.optimizer.iterations)

strategy = tf.distribute.MirroredStrategy(["CPU:0"])
sliced = tf.data.Dataset.from_tensor_slices((Hole(), [1] * 40)).shuffle(9).batch(24)
joined = tf.data.experimental.sample_from_datasets([sliced.repeat(), sliced]).batch(16)
known = tf.data.Dataset.from_tensor_slices((Hole().reshape(40, 3), [1] * 40)).batch(4)
def lines():
    yield from open("/nowhere/lines")

typed = tf.data.Dataset.from_generator(lines, tf.int32, output_shapes=tf.TensorShape([3]))
generated = tf.data.Dataset.from_generator(lines, output_signature=tf.TensorSpec((3,), tf.int32))
pair = Hole().batch(8), Hole().batch(8)
begun = iter(Hole().batch(8))
early = strategy.experimental_distribute_dataset(Hole())
own = Own()
own(tf.ones((2, 5)))
passing = Passing()
passing(tf.ones((2, 5)))
passing.compile("sgd", passed_on)
passing = sorted(passing.fit(Hole().batch(4), steps_per_epoch=2, verbose=0).history)
layers = keras.layers
inputs = keras.Input((5,))
stepped = Stepped(inputs, layers.Dense(2)(inputs))
stepped.compile("sgd")
stepped = sorted(stepped.fit(Hole().batch(4), steps_per_epoch=0.3, verbose=0).history)
texts = layers.TextVectorization(output_sequence_length=6)
texts.adapt(list(Hole()))
of_hole = layers.StringLookup(vocabulary=Hole(), mask_token=None)
of_column = layers.StringLookup(vocabulary=Hole()[:2])
functional = keras.Sequential([keras.Input((7, 7, 1)), layers.Flatten(), layers.Dense(2)])
sized = [layers.Dense(Hole()), layers.Embedding(Hole(), output_dim=5), layers.Reshape((Hole(), 1))]
sized.append(keras.Input((Hole(), 3)))
loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

@tf.function
def step(images, labels):
    return loss(labels, functional(images, training=True)), tf.shape(images)

images, labels = Hole(), Hole()
lost, shape = step(images, labels)
called = functional(Hole())
data = strategy.experimental_distribute_dataset(Hole().batch(16))
given = Hole().batch(4)
def masked(labels, predicted):  # its own, of classes
    lost = tf.nn.sparse_softmax_cross_entropy_with_logits(tf.cast(labels, tf.int32), predicted)
    return tf.reduce_mean(lost * tf.cast(labels != 5, lost.dtype))
label_weights = Hole() / 2
def weighted(labels, predicted):
    return keras.losses.mse(labels, predicted * keras.backend.constant(label_weights))
of_weights = keras.Sequential([keras.Input((7,)), layers.Dense(3)])
of_weights.compile("sgd", weighted)
of_weights.fit(Hole().batch(4), steps_per_epoch=2, verbose=0)
of_loss = keras.Sequential([keras.Input((7,)), layers.Dense(3)])
of_loss.compile("sgd", masked)
def of_tokens(labels, predicted):
    return keras.losses.sparse_categorical_crossentropy(labels, predicted, from_logits=True)
tokens = keras.Sequential([keras.Input((None, 7)), layers.Dense(3)])
tokens.compile("sgd", of_tokens)
tokens.fit(Hole().batch(4), steps_per_epoch=2, verbose=0)
made = {of_loss.fit(Hole().batch(4), steps_per_epoch=2, verbose=0) and of_loss.train_function}
def nothing(): return; yield
for _ in range(2):
    empty = tf.data.Dataset.from_generator(nothing, output_signature=tf.TensorSpec((None, 3)))
    of_loss.fit(empty, verbose=0)
    made.add(of_loss.train_function)
functional.loss = {}  # of a model that Keras 2 compiled without one
lossless = functional.predict(Hole().batch(4), steps=1, verbose=0)
functional.compile("sgd", loss, metrics=["accuracy"])
kept = functional.fit(given, epochs=1, verbose=0, validation_data=given, class_weight={0: 1.0})
late = tf.data.Dataset.range(3).map(
    lambda n: (tf.reshape(tf.ones(196 - tf.cast(n, tf.int32)), (4, 7, 7, 1)), tf.zeros(4)))
late = functional.fit(late, epochs=1, verbose=0).history
with strategy.scope():
    beside = Own()
beside.compile("sgd", loss)
beside.fit(tf.ones((16, 5)), Hole(), 8, 1, validation_data=(Hole(), Hole()), verbose=0)
wrong = functional.fit(tf.ones((4, 3)), Hole(), epochs=1, verbose=0).history
uneven = tf.data.Dataset.from_tensor_slices((Hole().reshape(40, 3), [1] * 30))
later, rate = Own(), keras.optimizers.SGD(Hole())

@tf.function
def run(batch):
    x, y = batch
    return loss(y, later(x))

@tf.function
def seen(images):
    return tf.shape(images)[0]

weighed = tf.data.Dataset.from_tensor_slices((Hole(), Hole(), Hole())).batch(8)
@tf.function
def replicated(it):
    def one(*batch):
        return [tf.shape(each) for each in batch]
    return strategy.run(one, args=next(it))
for one, two, three in Hole().batch(8):
    thirds = [each.shape.as_list() for each in (one, two, three)]
for number, (one, two) in enumerate(Hole().batch(8)):
    halves = [number, *(each.shape.as_list() for each in (one, two))]
for number, batch in enumerate(Hole().batch(4)):
    wholes = len(batch)
pair = next(zip(*pair))
parts = [[each.shape.as_list() for each in batch] for batch in (pair, next(iter(weighed)))]
alone = {int(seen(batch)) for batch in tf.data.Dataset.from_tensor_slices(Hole()).batch(8)}
ran = [float(run(batch)) for batch in uneven.batch(8)]
try:
    functional.fit(tf.ones((4, 3)), tf.ones(4), verbose=0, class_weight=[1.0, 2.0])
    refused = ""
except Exception as error:
    refused = str(error)
def refusing(labels, predicted):
    raise TypeError("a loss of its own")
functional.compile("sgd", refusing)
try:
    functional.fit(tf.ones((4, 3)), tf.ones(4), verbose=0)
except Exception as error:
    refused_so = str(error)
class Whole(keras.Model):
    def __init__(self):
        super().__init__()
        self.part = Own()
print(json.dumps({
    "sliced": [isinstance(sliced, Hole), batch_of(sliced), batch_of(joined)],
    "sized": [sized[0].units, sized[1].input_dim, sized[2].target_shape[0], sized[3].shape[1]],
    "known": next(iter(known))[0].shape.as_list(),
    "texts": tf.strings.split(Hole()[:9])[0].shape[0], "numbers": tf.nn.relu(Hole()[:9]).shape[0],
    "generated": [len(list(each.batch(8))) for each in (generated, typed)],
    "parts": [*parts, [each.numpy().tolist() for each in replicated(begun)]],
    "rounds_of": [thirds, halves, wholes],
    "lossless": list(lossless.shape), "called": list(called.shape),
    "early": isinstance(next(iter(early)), Hole),
    "stepped": stepped, "passing": passing, "adapted": texts.vocabulary_size(),
    "looked_up": of_column.vocabulary_size(), "of_hole": of_hole.vocabulary_size(),
    "made": len(made),
    "history": sorted(kept.history), "refused": refused, "so": refused_so,
    "late": len(late["loss"]),
    "wrong": len(wrong["loss"]), "uneven": isinstance(uneven, Hole), "ran": len(ran),
    "alone": [*alone],
    "beside": [*beside.dense.kernel.shape, int(beside.optimizer.iterations)],
    "rounds": sum(1 for _ in data), "own": fitted(own), "functional": fitted(functional),
    "step": shape.numpy().tolist(),
    "lost": float(lost) > 0, "distributed": [list(part.shape) for part in next(iter(data))],
    "predicted": list(functional.predict(Hole().batch(4), steps=1, verbose=0).shape),
    "whole": (lambda whole: filling._model() is whole)(Whole()),
}))
"""


def test_a_model_says_what_it_is_given(in_tensorflow: Callable[[str], Any]) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["own"] == seen["functional"] == 2
    assert seen["whole"], "not a part that it has made"
    assert seen["step"] == [8, 7, 7, 1] and seen["lost"]
    assert seen["distributed"] == [[16, 7, 7, 1], [16]]
    assert seen["called"] == [8, 2], "a model that is called of what is not there"
    assert seen["rounds"] == 32, "a loop over what is distributed has an end"
    assert seen["parts"] == [[[8, 8], [8]], [[8, 8], [8], [8]], [[8, 8], [8]]]
    assert seen["rounds_of"] == [[[8, 8], [8], [8]], [31, [8, 8], [8]], 2]
    assert seen["predicted"] == seen["lossless"] == [4, 2]
    assert seen["sliced"] == [True, 24, 16], "its shape is not known"
    assert seen["known"] == [4, 3] and seen["sized"] == [2, 2, 2, 2]
    assert seen["texts"] > 1 and seen["numbers"] == 9
    assert min(seen["generated"]) > 25, "as its signature says, where its file is not there"
    assert not seen["early"], "by a model that was made after it"
    assert "val_accuracy" in seen["history"], "scripts read it off the history"
    assert seen["late"] == 1, "of its first batch the model took all, and not of its second"
    assert seen["beside"] == [5, 3, 2], "labels for the rows that are there"
    assert seen["wrong"] == 1 and seen["uneven"] and seen["ran"] > 1 and seen["alone"] == [8]
    assert seen["adapted"] > 10, "a vocabulary of any texts"
    assert seen["of_hole"] == 2401 and seen["made"] == 2, "made anew where the first call failed"
    assert seen["looked_up"] == 3, "numbers of a column that is looked up are texts"
    assert seen["stepped"] == ["own"], "its step takes labels, and no loss was compiled"
    assert seen["passing"] == ["passed on"], "it makes a loss of classes itself"
    assert "of its own" in seen["so"], "its own error, where it was first given other data"
    assert seen["refused"], "a list of weights of classes is no matter of data"
