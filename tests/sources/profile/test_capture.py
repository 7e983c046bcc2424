"""The wait for input, held against a clock around next(iterator) in a real capture."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tpudiag.sources.profile import facts

TRAIN = """
import json, sys, time
import tensorflow as tf
folder, slow = sys.argv[1], sys.argv[2] == "slow"
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    weights = tf.Variable(tf.random.normal([256, 256]))

def heavy(x):
    return x + 0 * tf.reduce_sum(tf.linalg.matmul(tf.ones([700, 700]) * x[0], tf.ones([700, 700])))

data = tf.data.Dataset.from_tensors(tf.ones([256])).repeat()
data = data.map(heavy).batch(16) if slow else data.batch(16).prefetch(8)
iterator = iter(strategy.experimental_distribute_dataset(data))

@tf.function
def train(batch):
    def step(x):
        for _ in range(20):
            x = tf.matmul(x, weights) * 1e-3
        return tf.reduce_sum(x)
    return strategy.reduce("SUM", strategy.run(step, args=(batch,)), axis=None)

for _ in range(3):
    train(next(iterator))
steps, waits = [], []
tf.profiler.experimental.start(folder)
for number in range(12):
    with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
        before = time.perf_counter()
        batch = next(iterator)
        waits.append(1e3 * (time.perf_counter() - before))
        float(train(batch))
        steps.append(1e3 * (time.perf_counter() - before))
tf.profiler.experimental.stop()
print(json.dumps([steps, waits]))
"""


@pytest.mark.parametrize("speed", ["slow", "fast"])
def test_the_wait_is_what_the_loop_measured(tmp_path: Path, speed: str) -> None:
    if find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    done = subprocess.run(
        [sys.executable, "-c", TRAIN, str(tmp_path), speed],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    step_ms, wait_ms = json.loads(done.stdout.splitlines()[-1])
    found, steps = facts(tmp_path)
    assert found.devices == ()
    assert found.has_step_marker
    assert steps
    assert steps.input_wait_ms
    assert len(steps.step_ms) == 12
    assert sum(steps.step_ms) == pytest.approx(sum(step_ms), rel=0.1)
    if speed == "slow":
        assert sum(steps.input_wait_ms) == pytest.approx(sum(wait_ms), rel=0.1)
        assert sum(steps.input_wait_ms) > 0.2 * sum(steps.step_ms)
    else:
        assert sum(steps.input_wait_ms) < sum(wait_ms), "Python's share of next() is no wait"
