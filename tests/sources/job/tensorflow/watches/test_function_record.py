"""Functions of the same code: made anew, or one for each object that has a method."""

from collections.abc import Callable
from typing import Any

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.shortening.fast_forward import FastForward
from tpudiag.sources.job.tensorflow.watches import functions
watch = functions.FunctionWatch(tf)

class Layer:
    def __init__(self):
        self.own = tf.function(self.scale)
    def scale(self, x):
        return x * 2.0
    @tf.function
    def decorated(self, x):
        return x + 1.0

layers = [Layer() for _ in range(4)]
for layer in layers:
    layer.own(tf.ones(3)), layer.decorated(tf.ones(3))
for _ in range(4):
    tf.function(layers[0].scale)(tf.ones(3))
models = [tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(1)]) for _ in range(3)]
for model in (*models, models[0]):
    model.compile("sgd", "mse")
    model.fit(tf.ones((4, 2)), tf.ones(4), verbose=0)
facts = watch.facts()
known, variables = {}, [tf.Variable(0.0) for _ in range(9)]
exec(compile("def made(v): return lambda x: v.assign_add(x)", tf.__file__, "exec"), known)
watch.forward = FastForward(0.0, list)
watch.forward.begin()
for variable in variables:
    step = tf.function(known["made"](variable))
    watch._record(step).trains = True
    for _ in range(4):
        step(1.0)
print(json.dumps([
    [float(each) for each in variables],
    sorted([f.name, f.calls, f.traces, len(f.retraces)] for f in facts if f.location),
    [[f.traces, len(f.retraces)] for f in facts if "iterator" in f.name],
]))
"""


def test_each_object_has_a_function_of_its_own(in_tensorflow: Callable[[str], Any]) -> None:
    variables, seen, of_models = in_tensorflow(PROGRAM)
    assert of_models == [[2, 1]], "compiled again; each further model's first trace is none again"
    assert all(variables), "each model's function runs once, for it makes what is the model's"
    assert seen == [
        *([["decorated", 1, 1, 0]] * 4),
        *([["scale", 1, 1, 0]] * 3),
        ["scale", 5, 5, 4],  # made anew for one object
    ]
