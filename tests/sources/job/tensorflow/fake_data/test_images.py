"""Stand-ins that are decoded, and the sizes asked of them."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data.images import Contents
from tpudiag.sources.job.tensorflow.fake_data.ledger import MARKER

gif = bytes.fromhex("47494638396101000100800000000000ffffff2c00000000010001000002024401003b")
own = tf.io.encode_png(tf.zeros((5, 7, 3), tf.uint8)).numpy()
Contents(tf)

def shape(function, content=MARKER + "image"):
    dataset = tf.data.Dataset.from_tensors(content).map(function)
    return list(next(iter(dataset)).shape)

def claimed(content, decode=tf.io.decode_jpeg):
    picture = decode(content, channels=3)
    picture.set_shape((48, 64, 3))
    return tf.cast(picture, tf.float32) / 255.0

def claimed_tensor(content):
    tensor = tf.io.parse_tensor(content, tf.float32)
    tensor.set_shape((None, 64, 3))
    return tensor

def unclaimed(content):
    picture = tf.io.decode_image(content)
    picture.set_shape(None)
    return tf.image.resize_with_crop_or_pad(tf.ensure_shape(picture, [None, None, 3]), 9, 9)

print(json.dumps({
    "unclaimed": shape(unclaimed),
    "set": shape(claimed),
    "any": shape(lambda c: claimed(c, tf.image.decode_image)),
    "gif": shape(lambda c: tf.io.decode_image(c), gif),
    "reshaped": shape(lambda c: tf.reshape(tf.io.decode_jpeg(c, channels=3), (512, 512, 3))),
    "raw": shape(lambda c: tf.reshape(tf.io.decode_raw(c, tf.uint8), (28, 28))),
    "tensor": shape(lambda c: tf.reshape(tf.io.parse_tensor(c, tf.float32), (3, 3))),
    "open": shape(lambda c: tf.reshape(tf.io.parse_tensor(c, tf.float32), (-1, 2, 100))),
    "claimed": shape(claimed_tensor),
    "own": shape(lambda c: tf.io.decode_png(c), own),
}))
"""


def test_the_size_that_is_asked_for(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(PROGRAM) == {
        "unclaimed": [9, 9, 3],
        "set": [48, 64, 3],
        "any": [48, 64, 3],
        "gif": [1, 1, 1, 3],
        "reshaped": [512, 512, 3],
        "raw": [28, 28],
        "tensor": [3, 3],
        "open": [6, 2, 100],
        "claimed": [32, 64, 3],
        "own": [5, 7, 3],
    }
