"""What is told of a strategy that runs a function outside any tf.function."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.watches.functions import FunctionWatch
from tpudiag.sources.job.tensorflow.watches.strategies import StrategyWatch

watch, told = StrategyWatch(tf, FunctionWatch(tf)), []
watch.after_eager_run = lambda function, took_ms: told.append([function.__name__, took_ms > 0])
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

def valid_step():
    return tf.reduce_sum(tf.ones((64, 64)) @ tf.ones((64, 64)))

strategy.run(valid_step)
tf.function(lambda: strategy.run(valid_step))()
print(json.dumps(told))
"""


def test_an_eager_run_is_told_with_what_ran_and_how_long(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(PROGRAM) == [["valid_step", True]]
