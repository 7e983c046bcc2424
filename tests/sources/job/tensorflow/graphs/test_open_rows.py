"""The rows of tensors whose shapes leave them open, in graphs of TensorFlow's own."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs.open_rows import OpenRows

def rows(forward, *shape, batch=32):
    with tf.Graph().as_default():
        tensor = forward(tf.compat.v1.placeholder(tf.float32, shape))
        return OpenRows(batch).of(tensor, tensor.shape.as_list()[1:])

def wide(x):
    return tf.reshape(x, [-1, 8])

def looped(x):
    return tf.while_loop(lambda y: True, lambda y: [tf.nn.relu(y)], [x])[0]

print(json.dumps({
    "batch": rows(tf.identity, None, 8),
    "known": rows(tf.identity, 4, 8),
    "joined": rows(wide, None, 16, 8),
    "joined and on": rows(lambda x: tf.nn.relu(wide(x) + tf.ones([8])), None, 16, 8),
    "through a product": rows(lambda x: wide(x) @ tf.ones([8, 3]), None, 16, 8),
    "parted again": rows(lambda x: tf.reshape(wide(x), [-1, 16, 8]), None, 16, 8),
    "no whole number": rows(lambda x: tf.reshape(x, [-1, 7]), None, 16, 8),
    "unknown length": rows(wide, None, None, 8),
    "no batch is known": rows(wide, None, 16, 8, batch=None),
    "a loop": rows(looped, None, 8),
}))
"""


def test_rows_are_the_batch_unless_length_was_joined_to_it(in_tensorflow: InTensorFlow) -> None:
    rows = in_tensorflow(PROGRAM)
    assert rows["batch"] == rows["parted again"] == rows["a loop"] == 32
    assert rows["known"] == 4
    assert rows["joined"] == rows["joined and on"] == rows["through a product"] == 32 * 16
    assert rows["no whole number"] == rows["unknown length"] == 32, "which cannot be told"
    assert rows["no batch is known"] is None
