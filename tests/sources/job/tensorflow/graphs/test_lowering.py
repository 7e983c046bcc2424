"""The step of one replica, lowered."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

HEAD = """
import tempfile
from pathlib import Path
from tpudiag.sources.job.tensorflow.graphs import lowering
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.watches import training

tpu_stubs.install(tf, tpu_stubs.TpuSystem(8, 1, 1), 2, on_resolver=lambda name: None)
gradients = training.GradientWatch(tf)
watch = lowering.LoweringWatch(tf, gradients, None)
folder = Path(tempfile.mkdtemp())
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    W = tf.Variable(tf.ones((4, 8)))
"""
PROGRAM = """
def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x @ W)
    gradient = tape.gradient(loss, W)
    gradient = tf.distribute.get_replica_context().all_reduce("sum", gradient)
    W.assign_sub(0.1 * gradient)
    return loss

@tf.function
def step(x):
    return strategy.run(trained, (x,))

none = watch.lower(16, 16, 8, folder)
step(tf.ones((16, 4)))
own, small = watch.lower(16, 16, 8, folder), watch.lower(16, 4, 8, folder)
text = Path(small.path).read_text()
calls, alone = len(gradients.calls), watch.step.alone

class Trainer:
    def __init__(self):
        self.weights = tf.Variable(tf.ones((4, 8)))

    @tf.function
    def step(self, x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(x @ self.weights)
        gradient = tape.gradient(loss, self.weights)
        if loss > 10.0:
            gradient = gradient * 0.5
        self.weights.assign_sub(0.1 * gradient)
        return loss

trainer, watch.step = Trainer(), None
watch.trained_alone(trainer.step, (tf.ones((16, 4)),), {})
branching = watch.lower(16, 16, 1, folder)
tf.random.set_seed(1)
tf.config.experimental.enable_op_determinism()

@tf.function
def pooled(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(tf.nn.max_pool2d(x, 2, 2, "VALID"))
    return tape.gradient(loss, x)

watch.step = None
watch.trained_alone(pooled, (tf.ones((16, 4, 4, 1)),), {})
deterministic = watch.lower(16, 16, 1, folder)
print(json.dumps({
    "none": none.error, "errors": [own.error, small.error], "batch": [own.batch, small.batch],
    "shape": "tensor<4x4xf32>" in text, "sums": "all_reduce" in text,
    "alone": [alone, watch.step.alone],
    "kept": [float(v) for v in tf.reshape(W, [-1])[:1]], "calls": calls,
    "branching": branching.error,
    "deterministic": [deterministic.error, lowering.privates.DETERMINISTIC.get()()],
    "arguments": len(json.loads(Path(small.locations_path).read_text())["arguments"]),
}))
"""


def test_any_batch_with_sums_over_replicas(in_tensorflow: InTensorFlow) -> None:
    lowered = in_tensorflow(HEAD + PROGRAM)
    assert "no step" in lowered["none"]
    assert lowered["errors"] == [None, None] and lowered["batch"] == [16, 4]
    assert lowered["shape"] and lowered["sums"] and lowered["alone"] == [False, True]
    assert lowered["arguments"] == 2, "its input and its variable"
    assert lowered["branching"] is None, "AutoGraph's work, as tf.function has it"
    assert lowered["deterministic"] == [None, True], "though the script asks for it"
    assert lowered["calls"] == 1, "what is traced for the compiler is no step of the job"


OPEN = """
def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(x @ W)
    W.assign_sub(0.1 * tape.gradient(loss, W))
    return loss

@tf.function(input_signature=[tf.TensorSpec((None, None))])
def step(x):
    return strategy.run(trained, (x,))

step(tf.ones((16, 4)))
unknown = watch.lower(16, 16, 8, folder)
watch.shapes = ((7, 7), (4,))
bound = watch.lower(16, 16, 8, folder)
text = Path(bound.path).read_text() if bound.path else ""
print(json.dumps([unknown.error is None, bound.error, "tensor<16x4xf32>" in text]))
"""


def test_what_the_data_leave_open_is_bound_to_what_they_were(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(HEAD + OPEN) == [False, None, True]
