"""What is mapped over files that are not there has the shapes that its function's trace has."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import json, os, tempfile
import tensorflow as tf
from tpudiag.sources.job.points import privates
from tpudiag.sources.job.tensorflow.fake_data.holes import Hole
from tpudiag.sources.job.tensorflow.fake_data.install import FakeData
from tpudiag.sources.job.tensorflow.shortening import thin_batches

own = tempfile.mkdtemp() + "/own.tfrecord"
with tf.io.TFRecordWriter(own) as writer:
    writer.write(tf.io.encode_png(tf.zeros((5, 7, 3), tf.uint8)).numpy())
told = {}
data = FakeData(tempfile.mkdtemp(), told.update, lambda path: False)
data.watch_tensorflow(tf)
names = tf.io.gfile.glob("gs://bucket/train-*.tfrecord")
records = tf.data.TFRecordDataset(names)
spec = {
    "image": tf.io.FixedLenFeature([], tf.string), "label": tf.io.FixedLenFeature([], tf.int64),
    "boxes": tf.io.FixedLenFeature([2, 4], tf.float32), "words": tf.io.VarLenFeature(tf.int64),
}
parsed = records.map(lambda record: tf.io.parse_single_example(record, spec))
batches = records.batch(16).map(lambda batch: tf.io.parse_example(batch, spec))

def claimed(content):
    picture = tf.io.decode_jpeg(content, channels=3)
    picture.set_shape((48, 64, 3))
    return tf.cast(picture, tf.float32) / 255.0

def in_python(content):
    return tf.py_function(lambda c: tf.io.decode_jpeg(tf.io.read_file(c)), [content], tf.uint8)

def shape(dataset, each=lambda one: one):
    return [list(part.shape) for part in tf.nest.flatten(each(next(iter(dataset))))]

anything = lambda name: tf.numpy_function(lambda _: 0.0, [name], tf.float32)
paths = tf.data.Dataset.from_tensor_slices((names, [1] * len(names)))
nested = paths.interleave(lambda name, _: tf.data.TFRecordDataset(name).map(claimed))
odd = parsed.filter(lambda one: one["label"] > 0)
few = tf.data.Dataset.range(5)
thin = thin_batches.thinned(tf, records.map(claimed, 4).batch(16), lambda _: 8, lambda _: 2)
pictures = tf.data.Dataset.range(9000).map(lambda _: tf.zeros((512, 512, 3)))
large = pictures.cache()
print(json.dumps({
    "thin": shape(thin),
    "few": shape(few.batch(8, drop_remainder=True)) + [len(few.batch(2, drop_remainder=True))],
    "claimed": shape(records.map(claimed)),
    "decoded": shape(parsed.map(lambda one: tf.io.decode_png(one["image"], channels=3))),
    "reshaped": shape(records.map(lambda c: tf.reshape(tf.io.decode_raw(c, "uint8"), (28, 28)))),
    "parsed": shape(parsed.map(lambda one: (one["boxes"], tf.sparse.to_dense(one["words"])))),
    "batches": shape(batches.map(lambda batch: (batch["label"], batch["boxes"]))),
    "nested": shape(nested), "many": sum(1 for _ in nested) > len(names),
    "read": shape(paths.shuffle(8).map(lambda path, at: (claimed(tf.io.read_file(path)), at))),
    "in_python": shape(paths.map(lambda path, _: in_python(path)).map(
        lambda picture: tf.ensure_shape(picture, (9, 9, 3)))),
    "unnamed": shape(tf.data.TFRecordDataset("/nowhere/train").map(claimed)),
    "own": shape(tf.data.TFRecordDataset(own).map(lambda c: tf.io.decode_png(c))),
    "beside": shape(tf.data.Dataset.from_tensors((own, "own.tfrecord")).interleave(
        lambda path, _: tf.data.TFRecordDataset(path).map(lambda c: tf.io.decode_png(c)))),
    "padded": shape(tf.data.Dataset.from_tensor_slices(names).map(anything).padded_batch(
        4, padded_shapes=[None, 3])),
    "named": shape(tf.data.Dataset.from_tensors(os.path.join("/nowhere", Hole())).map(
        lambda name: tf.io.decode_png(tf.io.read_file(name), 1)).take(1)),
    "labels": sorted({int(one["label"]) for one in parsed.take(8)}),
    "odd": sorted({int(one["label"]) for one in odd.take(8)}),
    "as_many": sum(1 for _ in parsed) == sum(1 for _ in records),
    "kinds": type(parsed).__name__, "asked": told["asked_sizes"],
    "chosen": told["chosen_sizes"],
    "cached": [type(large).__name__, privates.VARIANT.of(large) is privates.VARIANT.of(pictures)],
    "kept": privates.VARIANT.of(few.cache()) is not privates.VARIANT.of(few),
}))
"""


def test_the_trace_says_what_elements_are(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["cached"] == ["CacheDataset", True] and seen["kept"], "not 28 GB of stand-ins"
    assert seen["claimed"] == seen["nested"] == seen["unnamed"] == [[48, 64, 3]]
    assert seen["decoded"] == [[512, 512, 3]], "of any size"
    assert seen["reshaped"] == [[28, 28]] and seen["in_python"] == [[9, 9, 3]]
    assert seen["parsed"] == [[2, 4], [32]] and seen["batches"] == [[16], [16, 2, 4]]
    assert seen["named"] == [[512, 512, 1]], "a path that a hole is a part of"
    assert seen["padded"] == [[4, 512, 3]], "the rank is that of the padded shapes"
    assert seen["read"] == [[48, 64, 3], []]
    assert seen["own"] == seen["beside"] == [[5, 7, 3]], "what is there is read as it is"
    assert seen["labels"] == [0, 1] and seen["odd"] == [1]
    assert seen["thin"] == [[8, 48, 64, 3]], "its function is not run for fewer examples either"
    assert seen["few"] == [[8], 2], "as many as make a batch"
    assert seen["as_many"] and seen["many"] and "Map" in seen["kinds"]
    assert {48, 64, 28} <= set(seen["asked"]) and 32 in seen["chosen"]
