"""What crosses replicas stands in the lowered program, with the shape that the TPU gives it."""

import sys
from pathlib import Path

import pytest

from tests.sources.job.programs import ran

GATHERS = """
import tensorflow as tf
from tpudiag.sources.job.tensorflow.graphs.replica_context import as_replica

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    scale = tf.Variable(tf.ones((3,)))


def back(strategy, x):
    return strategy.extended.call_for_each_replica(tf.identity, args=(x,))


def step(x):
    x = tf.distribute.get_replica_context().merge_call(back, args=(x,))
    with tf.GradientTape() as tape:
        every = tf.distribute.get_replica_context().all_gather(x * scale, axis=0)
        loss = tf.reduce_sum(every * every)
    return every, tape.gradient(loss, scale)


@tf.function(jit_compile=True)
def lowered(x):
    with as_replica(tf, strategy, 4):
        return step(x)


print(lowered.experimental_get_compiler_ir(tf.ones((2, 3)))(stage="hlo"))
"""


@pytest.mark.slow
def test_what_is_gathered_crosses_all_replicas(tmp_path: Path) -> None:
    script = tmp_path / "gathers.py"
    script.write_text(GATHERS, encoding="utf-8")
    done = ran(sys.executable, str(script))
    assert "AutoGraph could not" not in done.stderr, "what is ours is not the job's"
    exchanges = [line for line in done.stdout.splitlines() if " all-reduce(" in line]
    assert len(exchanges) == 2, "forwards, and the gradient"
    assert all("f32[8,3]" in line and "{{0,1,2,3}}" in line for line in exchanges)
    root = next(line for line in done.stdout.splitlines() if "ROOT %XLA_Retvals" in line)
    assert "(f32[8,3]{1,0}, f32[3]{0})" in root
