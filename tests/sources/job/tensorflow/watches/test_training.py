"""Steps of loops that have neither a function nor a strategy."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import contextlib
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.watches.training import GradientWatch

watch, steps = GradientWatch(tf), []
watch.watch_keras(tf.keras)
watch.after_eager_step = lambda: steps.append(1)
weights, optimizer = tf.Variable([1.0]), tf.keras.optimizers.SGD()

def step(times):
    for _ in range(times):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(weights**2)
        optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])

optimizer.apply_gradients([(tf.zeros([1]), weights)])  # it makes its variables
tf.function(step)(3)
before = len(steps)
step(5)
step(1)
taken = watch.taken
with contextlib.suppress(Exception), tf.GradientTape() as tape:
    tape.gradient(Hole(), weights)
assert watch.taken == taken and watch.eager_calls == 6, "of a value that is not there"
print(json.dumps([before, len(steps)]))
"""


def test_a_line_that_applies_eager_gradients_again_is_a_step(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(PROGRAM) == [0, 5]
