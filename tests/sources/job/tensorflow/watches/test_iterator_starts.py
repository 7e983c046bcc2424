"""Where loops start to read."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.watches import iterator_starts
from tpudiag.sources.job.points import user_lines

SCRIPT = '''
def steps(dataset, count):
    for step in range(count):
        batch = next(iter(dataset))
        taken[0] += 1

def epochs(dataset, count):
    for epoch in range(count):
        for batch in dataset:
            taken[0] += 1

def first(dataset):
    return next(iter(dataset))

def looks():
    first(tf.data.Dataset.range(2))
    first(tf.data.Dataset.range(3))
'''
taken = [0]
watch = iterator_starts.IteratorStartWatch(tf, lambda: taken[0])
space = {"taken": taken, "tf": tf}
exec(code_of(SCRIPT), space)
space["steps"](tf.data.Dataset.range(8).cache(), 6)
space["epochs"](tf.data.Dataset.range(8), 3)
space["looks"]()
print(json.dumps([
    [u.location.line, u.times, u.datasets, u.steps_between, u.cardinality, u.cached, u.asks_once]
    for u in watch.facts()
]))
"""


def test_a_start_each_step_and_one_each_epoch(in_tensorflow: InTensorFlow) -> None:
    # A helper that looks at one dataset after another starts none of them again.
    each_step, each_epoch = in_tensorflow(PROGRAM)
    assert each_step == [4, 6, 1, 1, 8, True, True]
    assert each_epoch == [9, 3, 1, 8, 8, False, False]
