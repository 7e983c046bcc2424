"""Files in buckets that cannot be reached, TF Hub, and what is told of them."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import json, os, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData

told = []
own = tempfile.mkdtemp() + "/own.tfrecord"
with tf.io.TFRecordWriter(own) as writer:
    writer.write(b"mine")
data = FakeData(tempfile.mkdtemp(), lambda **facts: told.append(facts), lambda path: False)
data.watch_tensorflow(tf)
before = data.used
names = tf.io.gfile.glob("gs://bucket/train-*.tfrecord")
records = sum(1 for _ in tf.data.TFRecordDataset(filenames=names))
listed = [name.numpy().decode() for name in tf.data.Dataset.list_files("gs://bucket/val-*.tfrecord")]
nowhere = len(tf.data.Dataset.list_files("/nowhere/images/*"))
status = tf.train.Checkpoint().restore("gs://bucket/ckpt-1")
status.assert_consumed().expect_partial()
module = tf.saved_model.load("gs://bucket/model")
of_names = tf.data.TFRecordDataset(tf.data.Dataset.from_tensor_slices(names[:2]))
lines = tf.data.TextLineDataset("gs://bucket/lines.gz", compression_type="GZIP")
pieces = tf.data.FixedLengthRecordDataset("gs://bucket/labels-ubyte", 3, header_bytes=8)
def refused(call, *given):
    try:
        call(*given)
    except tf.errors.NotFoundError as error:
        return "No such file" in str(error)

copied = refused(tf.io.gfile.copy, "gs://bucket/weights.h5", os.path.join(tempfile.mkdtemp(), "w"))
opened = refused(tf.io.gfile.GFile, "gs://bucket/vocabulary.txt")
print(json.dumps({
    "refused": [copied, opened], "nowhere": nowhere,
    "names": names, "records": records, "listed": sorted(listed),
    "exists": tf.io.gfile.exists("gs://bucket/train.tfrecord"),
    "v2": [tf.compat.v2.io.gfile.exists("gs://bucket/train.tfrecord"),
           len(tf.compat.v2.io.gfile.glob("gs://bucket/train-*.tfrecord")) == len(names),
           len(tf.io.matching_files("gs://bucket/train-*.tfrecord")) == len(names)],
    "own": [r.numpy().decode() for r in tf.data.TFRecordDataset(own)],
    "all": [sum(1 for _ in each) for each in (of_names, pieces, lines)],
    "hole": next(iter(tf.data.TFRecordDataset(Hole()))).numpy().decode()[:5],
    "latest": tf.train.latest_checkpoint("gs://bucket/run"),
    "module": str(module(tf.ones((4, 8, 8, 3)))),
    "modules": sorted(data.by_module()), "told": str(told), "used": [before, data.used],
}))
"""


def test_buckets_are_stood_in_for_and_files_read(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["nowhere"] == len(seen["names"]), "whatever the files of such a folder are called"
    assert seen["all"] == [2 * seen["all"][1]] + [seen["all"][1]] * 2 and seen["hole"] == "tpudi"
    assert seen["names"] and all(name.startswith("gs://bucket/train-") for name in seen["names"])
    assert seen["records"] >= len(seen["names"]) and len(seen["listed"]) == len(seen["names"])
    assert seen["refused"] == [True, True], "what is not there is said to be so at once"
    assert seen["own"] == ["mine"], "a file that is there is read"
    assert seen["used"] == [False, True]
    assert seen["v2"] == [True, True, True], "`import tensorflow.compat.v2 as tf` asks others"
    assert seen["exists"] and seen["latest"] is None
    assert seen["module"] == "hole"
    assert {"pandas", "tensorflow_datasets", "tensorflow_hub"} <= set(seen["modules"])
    for named in ("train-*.tfrecord", "ckpt-1", "gs://bucket/model"):
        assert named in seen["told"]
