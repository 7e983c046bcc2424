"""The variables that operations of a step read."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs.matrix_products import name_read_by

kernel = tf.Variable(tf.ones((4, 4)), name="dense/kernel")
other = tf.Variable(tf.ones((4, 4)), name="dense_1/kernel")

@tf.function
def inner(x):
    return x @ tf.cast(other, tf.float32)

@tf.function
def step(x):
    return inner(x @ tf.transpose(tf.reshape(kernel, (4, 4)))) + x @ x

def names(function):
    graph = function.get_concrete_function(tf.TensorSpec((4, 4))).graph
    return [name_read_by(each) for each in graph.get_operations() if each.type == "MatMul"]

print(json.dumps([names(step), names(inner)]))
"""


def test_the_variable_behind_casts_and_calls(in_tensorflow: InTensorFlow) -> None:
    step, inner = in_tensorflow(PROGRAM)
    assert step == ["dense/kernel:0", None]
    assert inner == ["dense_1/kernel:0"]
