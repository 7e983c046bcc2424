"""What elements take in a host's memory, beside what a real process takes for them."""

import pytest

from tests.sources.job.programs import told

pytestmark = pytest.mark.slow

PROGRAM = """
import os
os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
import tensorflow as tf
from tpudiag.sources.job.tensorflow.input import dataset_reader, pipelines

def used():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def example(number):
    return tf.fill([{floats}], tf.cast(number, tf.float32)), number

count = {count}
for _ in tf.data.Dataset.range(10).map(example).shuffle(10):
    pass
dataset = tf.data.Dataset.range(count).map(example).shuffle(count)
reader = dataset_reader.DatasetReader(tf)
chain = reader.chain(dataset)
pipeline = reader.pipeline(dataset, chain)
op = pipelines.with_host_bytes(tf, chain, pipeline).ops[-1]
before = used()
iterator = iter(dataset)
next(iterator)
print(op.host_bytes * count / (used() - before))
"""


@pytest.mark.parametrize(("floats", "count"), [(100, 50_000), (3_136, 5_000)])
def test_a_shuffle_buffer_within_a_fifth(floats: int, count: int) -> None:
    assert 0.8 < told(PROGRAM.format(floats=floats, count=count)) < 1.2
