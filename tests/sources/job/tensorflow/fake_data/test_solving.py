"""What a model asks its input for says what it is given."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import json, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data.filling import Filling
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.ledger import Ledger

BATCH_SIZE = 8
keras, layers = tf.keras, tf.keras.layers
Filling(tf, Ledger(tempfile.mkdtemp(), lambda **_: None)).watch_keras(keras)
loss = keras.losses.MeanSquaredError()

class Rated(keras.Model):
    def __init__(self):
        super().__init__()
        self.looked_up = layers.StringLookup(vocabulary=["a", "b"])
        self.user, self.age, self.last = layers.Embedding(9, 4), layers.Dense(4), layers.Dense(1)

    def call(self, features):
        user = self.user(self.looked_up(features["user"]))
        age = self.age(tf.cast(features.get("age"), tf.float32)[:, None])
        return self.last(tf.concat([user, age], axis=1))

class Stepped(Rated):
    def train_step(self, features):
        rating = features["rating"]
        with tf.GradientTape() as tape:
            lost = loss(tf.cast(rating, tf.float32), self(features)[:, 0])
        variables = self.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(lost, variables), variables))
        return {"own": lost}

class Tokens(keras.Model):
    def __init__(self):
        super().__init__()
        self.words, self.last = layers.Embedding(9, 4), layers.Dense(2)

    def call(self, inputs, training=False):
        known = tf.cast(inputs["mask"], tf.float32)[..., None]
        return self.last(tf.reduce_mean(self.words(inputs["ids"]) * known, axis=1))

class Pictures(keras.Model):
    def __init__(self):
        super().__init__()
        self.parts = [layers.Conv2D(2, 3), layers.GlobalAveragePooling2D(), layers.Dense(1)]

    def call(self, x, training=False):
        for part in self.parts:
            x = part(x)
        return x

class Paired(Tokens):
    def call(self, inputs):
        user, item = inputs
        return tf.reduce_sum(self.words(user) * self.words(item), axis=-1, keepdims=True)

def fitted(model, data):
    model.compile("sgd", "mse")
    kept = model.fit(data, steps_per_epoch=2, verbose=0).history
    return [len(model.trainable_variables), int(model.optimizer.iterations), *kept]

examples = Hole().map(lambda x: {"user": x["user_id"], "age": x["age"], "rating": x["r"]})
named = tf.data.Dataset.from_tensor_slices(({"user": Hole(), "age": Hole()}, Hole())).batch(4)
seen = {"stepped": fitted(Stepped(), examples.shuffle(9).batch(4))}
seen["rated"], seen["alone"] = fitted(Rated(), Hole().batch(4)), fitted(Rated(), named)
for model in (Tokens(), Pictures(), Paired()):
    seen[model.name] = fitted(model, Hole().batch(4))

looped = Rated()
@tf.function
def step(x, y):
    return loss(y, looped(x))

named = tf.data.Dataset.from_tensor_slices(({"user": Hole(), "age": Hole()}, Hole())).batch(4)
seen["looped"] = len([step(x, y) for x, y in named])
print(json.dumps(seen))
"""


def test_what_a_model_asks_for_is_what_it_is_given(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["stepped"] == [5, 2, "own"]
    assert seen["rated"] == seen["alone"] == [5, 2, "loss"]
    assert seen["tokens"] == [3, 2, "loss"] and seen["pictures"] == [4, 2, "loss"]
    assert seen["paired"] == [1, 2, "loss"] and seen["looped"] > 1
