"""What of a small traced graph is constant."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.graphs.constants import Constants

W = tf.Variable(2.0)
results = {}

@tf.function
def step(x):
    constants = Constants(tf, 64)
    rows = tf.cast(tf.shape(x)[0], tf.float32)
    results["batch"] = constants.of(rows)
    results["half"] = constants.of(rows / 2.0 + 1.0)
    results["size"] = constants.of(tf.size(tf.ones((3, 5))))
    results["filled"] = constants.of(tf.fill([1], rows))
    results["larger"] = constants.of(tf.maximum(rows, 100.0))
    results["data"] = constants.of(tf.reduce_sum(x))
    results["variable"] = constants.of(W + 0.0)
    loss = tf.reduce_sum(x) / rows * 4.0
    results["inside"] = constants.inside(loss)
    results["depends"] = [graphs.depends_on_input(t) for t in (loss, W * 3.0, rows)]
    return loss

step.get_concrete_function(tf.TensorSpec((None, 3, 4)))
print(json.dumps(results))
"""


def test_constants_of_a_step(in_tensorflow: InTensorFlow) -> None:
    results = in_tensorflow(PROGRAM)
    assert results["batch"] == 64
    assert results["half"] == 33
    assert results["size"] == 15
    assert results["filled"] == 64
    assert results["larger"] == 100
    assert results["data"] is None
    assert results["variable"] is None
    assert results["inside"] == [4, 1 / 64]
    assert results["depends"] == [True, False, False]
