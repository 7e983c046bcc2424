"""Records that hold what the script asks for."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data import records
from tpudiag.sources.job.tensorflow.fake_data.ledger import MARKER

real = tf.train.Example(features=tf.train.Features(feature={
    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[7]))})).SerializeToString()
asked = []
records.install(tf, asked.append)
spec = {
    "image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64),
    "boxes": tf.io.FixedLenFeature([2, 4], tf.float32),
    "height": tf.io.FixedLenFeature([], tf.int64),
    "words": tf.io.VarLenFeature(tf.int64), "title": tf.io.VarLenFeature(tf.string),
}
dataset = tf.data.Dataset.from_tensor_slices([f"{MARKER}{n}" for n in range(16)])
parsed = list(dataset.map(lambda record: tf.io.parse_single_example(record, spec)))
batch = tf.io.parse_example(tf.constant([f"{MARKER}1"]), {"label": spec["label"]})
own = tf.io.parse_single_example(tf.constant(real), {"label": spec["label"]})
columns = tf.io.decode_csv(tf.constant([f"{MARKER}line"]), [0, 0.0, ""])
print(json.dumps({
    "labels": sorted({int(p["label"]) for p in parsed}),
    "boxes": parsed[0]["boxes"].shape.as_list(),
    "image": parsed[0]["image"].numpy().decode().startswith(MARKER),
    "height": int(parsed[0]["height"]), "words": int(tf.size(parsed[0]["words"].values)),
    "title": tf.reshape(tf.sparse.to_dense(parsed[0]["title"]), []).shape.as_list(),
    "batch": batch["label"].shape.as_list(), "own": int(own["label"]),
    "columns": [int(columns[0][0]), float(columns[1][0])],
}))
"""


def test_features_by_type_and_name(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["labels"] == [0, 1] and seen["boxes"] == [2, 4]
    assert seen["image"] and seen["height"] > 1 and seen["words"] > 0
    assert seen["title"] == [] and seen["batch"] == [1]
    assert seen["own"] == 7, "a record of the script's own is read as it is"
    assert seen["columns"] == [1, 0.5]
