"""The wait for input, held against a clock around next(iterator) in a real capture."""

from collections.abc import Callable
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from tests.sources.job.programs import told
from tpudiag.signals import ProfileFacts, StepTimes
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.host_read import INDEX

pytestmark = pytest.mark.slow

Ask = Callable[[Path, str], Any]

RECORD = """
import json, sys, time
import tensorflow as tf
top, layers = sys.argv[1], tf.keras.layers
cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    weights = tf.Variable(tf.random.normal([256, 256]))
    model = tf.keras.Sequential([layers.Input((256,)), layers.Dense(2048), layers.Dense(1)])
    model.compile("sgd", "mse")

def heavy(x):
    return x + 0 * tf.reduce_sum(tf.linalg.matmul(tf.ones([700, 700]) * x[0], tf.ones([700, 700])))

def loop(slow):
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
    tf.profiler.experimental.start(top + ("/slow" if slow else "/fast"))
    for number in range(12):
        with tf.profiler.experimental.Trace("train", step_num=number, _r=1):
            before = time.perf_counter()
            batch = next(iterator)
            waits.append(1e3 * (time.perf_counter() - before))
            float(train(batch))
            steps.append(1e3 * (time.perf_counter() - before))
    tf.profiler.experimental.stop()
    return steps, waits

class Clock(tf.keras.callbacks.Callback):
    begins = []
    def on_train_batch_begin(self, batch, logs=None):
        self.begins.append(1e3 * time.perf_counter())

def fit():
    data = tf.data.Dataset.from_tensors((tf.ones([256]), tf.ones([1]))).repeat()
    data = data.batch(512, drop_remainder=True).prefetch(-1)
    model.fit(data, steps_per_epoch=3, verbose=0)
    tf.profiler.experimental.start(top + "/fit")
    model.fit(data, steps_per_epoch=15, epochs=2, verbose=0, callbacks=[Clock()])
    tf.profiler.experimental.stop()
    return Clock.begins, []

print(json.dumps({"slow": loop(True), "fast": loop(False), "fit": fit()}))
"""
Clocks = dict[str, tuple[list[float], list[float]]]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Clocks]:
    """Three captures, and what the loop's own clock said beside them."""
    if find_spec("tensorflow") is None:
        pytest.skip("TensorFlow is not installed")
    top = tmp_path_factory.mktemp("captures")
    return top, told(RECORD, str(top))


def test_steps_of_keras_fit_are_recovered(recorded: tuple[Path, Clocks]) -> None:
    begins, _ = recorded[1]["fit"]
    clock = [after - before for before, after in pairwise(begins)]
    _, steps = facts(recorded[0] / "fit")
    assert steps
    assert steps.recovered
    assert steps.source.startswith("recovered from the calls of tf.function")
    assert 28 <= len(steps.step_ms) <= 29, "30 calls: the last has no end, a pause may be left out"
    assert median(steps.step_ms) == pytest.approx(median(clock), rel=0.15)


@pytest.mark.parametrize("speed", ["slow", "fast"])
def test_the_wait_is_what_the_loop_measured(
    recorded: tuple[Path, Clocks], speed: str, ask: Ask
) -> None:
    step_ms, wait_ms = recorded[1][speed]
    found, steps = facts(recorded[0] / speed)
    assert found.devices == ()
    assert steps
    assert steps.input_wait_ms
    assert len(steps.step_ms) == 12
    assert sum(steps.step_ms) == pytest.approx(sum(step_ms), rel=0.1)
    if speed == "slow":
        # Of a wait the loop's clock also counts what Python does around it.
        assert 0.5 * sum(wait_ms) < sum(steps.input_wait_ms) < 1.1 * sum(wait_ms)
        assert sum(steps.input_wait_ms) > 0.2 * sum(steps.step_ms)
        assert found.iterators
        assert max(found.iterators, key=lambda i: i.blocked_ms).op == "MapAndBatch"
    else:
        assert sum(steps.input_wait_ms) < sum(wait_ms), "Python's share of next() is no wait"
        agrees_with_xprof(found, steps, ask, next((recorded[0] / speed).rglob("*.xplane.pb")))


def agrees_with_xprof(found: ProfileFacts, steps: StepTimes, ask: Ask, file: Path) -> None:
    """The input pipeline's self times, and the step time."""
    tables = ask(file, "input_pipeline_analyzer")
    theirs = dict[str, list[float]]()
    for row in next(t for t in tables if t["cols"] and t["cols"][0]["id"] == "opName")["rows"]:
        name, count, _, _, self_ms, *_ = (cell["v"] for cell in row["c"])
        sums = theirs.setdefault(INDEX.sub("", name), [0, 0])
        theirs[INDEX.sub("", name)] = [sums[0] + count, sums[1] + self_ms]
    assert found.iterators
    for iterator in found.iterators:
        if iterator.name in theirs:
            count, self_ms = theirs[iterator.name]
            assert iterator.count == count
            assert iterator.self_ms == pytest.approx(self_ms, rel=0.01, abs=0.001), iterator.name
    assert len(theirs.keys() & {iterator.name for iterator in found.iterators}) >= 3
    said = {key: text for table in tables for key, text in table.get("p", {}).items()}
    # XProf leaves out the first and the last step, and rounds to 0.1 ms.
    inner = steps.step_ms[1:-1]
    average = float(said["steptime_ms_average"])
    assert sum(inner) / len(inner) == pytest.approx(average, rel=0.01, abs=0.06)
