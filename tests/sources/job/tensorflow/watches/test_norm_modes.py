"""Batch normalisations that a training step runs as in inference."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.watches import norm_modes, training

SCRIPT = '''
def forgotten(x): return model(x)
def trained(x): return model(x, training=True)
def frozen_by_choice(x): return model(x, training=False)
'''
watch, gradients = norm_modes.NormModeWatch(tf), training.GradientWatch(tf)
watch.watch_keras(tf.keras)
model = tf.keras.Sequential([tf.keras.layers.BatchNormalization(name="norm")])
model.build((2, 4))
space = {"model": model}
exec(code_of(SCRIPT), space)

def norms(forward):
    @tf.function(autograph=False)
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(forward(x))
        return tape.gradient(loss, model.trainable_variables)
    step.get_concrete_function(tf.TensorSpec((2, 4)))
    return [[f.name, f.location.line] for f in watch.facts(gradients.calls[-1])]

names = "forgotten", "trained", "frozen_by_choice"
print(json.dumps({name: norms(space[name]) for name in names}))
"""


def test_those_that_nobody_froze(in_tensorflow: InTensorFlow) -> None:
    norms = in_tensorflow(PROGRAM)
    assert norms == {"forgotten": [["norm", 2]], "trained": [], "frozen_by_choice": []}
