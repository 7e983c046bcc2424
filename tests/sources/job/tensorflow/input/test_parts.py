"""Pictures and masks of the same names, and the orders in which they are zipped."""

import pytest

from tests.sources.job.programs import InTensorFlow

PROGRAM = """
import json, pathlib, tempfile
import tensorflow as tf
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader
from tpudiag.sources.job.tensorflow.input.parts import in_other_orders

folder = pathlib.Path(tempfile.mkdtemp())
for kind in ("x", "y", "z"):
    (folder / kind).mkdir()
    for number in range(6):
        (folder / kind / f"{number}{'z' * (kind == 'z')}.raw").write_bytes(bytes(12))

def listed(kind, **how):
    return tf.data.Dataset.list_files(f"{folder}/{kind}/*.raw", **how)

def named(kind, order):
    return tf.data.Dataset.from_tensor_slices([f"{folder}/{kind}/{n}.raw" for n in order])

def read(*shape):
    return lambda path: tf.reshape(tf.io.decode_raw(tf.io.read_file(path), tf.uint8), shape)

def apart(x, y, inner=(read(2, 2, 3), read(12)), outer=None):
    if inner is not None:
        x, y = x.map(inner[0]), y.map(inner[1])
    whole = tf.data.Dataset.zip((x, y))
    whole = whole.map(outer) if outer else whole
    reader = DatasetReader(tf)
    chain = reader.chain(whole.shuffle(6).batch(2))
    seen = in_other_orders(reader, chain, reader.pipeline(chain[-1], chain).ops)
    return seen and [seen.files, seen.shuffled, *(name[-7:] for name in seen.first)]

print(json.dumps({
    "apart": apart(listed("x"), listed("y")),
    "one of them": apart(listed("x"), listed("y", shuffle=False)),
    "read as pairs": apart(
        listed("x"), listed("y"), None, lambda x, y: (read(2, 2, 3)(x), read(12)(y))
    ),
    "listed apart": apart(named("x", range(6)), named("y", (3, 1, 2, 0, 5, 4))),
    "by names": apart(listed("x", shuffle=False), listed("y", shuffle=False)),
    "one seed": apart(listed("x", seed=1), listed("y", seed=1)),
    "others": apart(listed("x"), listed("z")),
    "the same": apart(listed("x"), listed("x")),
    "one kind": apart(listed("x"), listed("y"), (read(12), read(12))),
}))
"""


@pytest.mark.slow
def test_files_that_belong_together(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    for shuffled in ("apart", "one of them", "read as pairs"):
        count, by_pipeline, one, other = seen.pop(shuffled)
        assert (count, by_pipeline) == (6, True)
        assert (one[0], other[0], one[1:]) == ("x", "y", other[1:])
    assert seen.pop("listed apart") == [6, False, "x/0.raw", "y/0.raw"]
    assert set(seen.values()) == {None}
