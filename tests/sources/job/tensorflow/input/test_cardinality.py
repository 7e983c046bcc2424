"""The elements of a costly transformation."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from dataclasses import replace
from tpudiag.model import Location
from tpudiag.sources.job.tensorflow.input.cardinality import _HANDS_ON, below, counted, elements
from tpudiag.sources.job.tensorflow.input.dataset_reader import DatasetReader

D = tf.data.Dataset
odd = D.range(1000).filter(lambda x: x % 2 == 1)
reader = DatasetReader(tf)

def costly(dataset):
    made = dataset.map(lambda x: tf.reduce_sum(tf.linalg.matmul(
        tf.fill([64, 64], tf.cast(x, tf.float32)), tf.ones([64, 64])))).batch(4)
    chain = reader.chain(made)
    pipeline = reader.pipeline(made, chain)
    ops = tuple(replace(op, location=Location("train.py", 7)) for op in pipeline.ops)
    pipeline = counted(tf, chain, replace(pipeline, ops=ops))
    return [op.elements for op in pipeline.ops if op.kind in ("Map", "ParallelMap")]

print(json.dumps({
    "known": elements(tf, D.range(10), 1.0), "read": elements(tf, odd, 1.0),
    "endless": elements(tf, odd.repeat(), 1.0),
    "one pass": elements(tf, below(odd.shuffle(8).repeat(3).prefetch(2), _HANDS_ON), 1.0),
    "costly": costly(odd.shuffle(8).repeat(3)),
}))
"""


def test_what_only_reading_tells_is_counted_once(in_tensorflow: InTensorFlow) -> None:
    counts = in_tensorflow(PROGRAM)
    assert counts["known"] == 10
    assert counts["read"] == counts["one pass"] == 500, "not three times, for three epochs"
    assert counts["endless"] is None
    assert counts["costly"] == [500]
