"""The user's lines behind what Keras adds to a step."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

HOOKS = """
import tempfile
from pathlib import Path
from tpudiag.sources.job.points import barrier, user_lines
from tpudiag.sources.job.tensorflow.graphs import lowering, operation_lines
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.watches import training
from tpudiag.sources.job.tensorflow.watches.keras import KerasWatch

keras = tf.keras
tpu_stubs.install(tf, tpu_stubs.TpuSystem(8, 1, 1), 2, on_resolver=lambda name: None)
user_lines.follow_autograph()
watch = lowering.LoweringWatch(tf, training.GradientWatch(tf), None)
layers = KerasWatch(tf)
layers.watch(keras, "keras")
layers.adapt_to_cpu_replicas(keras)
watch.lines.watch(keras, layers)

def lowered():
    lowered = watch.lower(8, 8, 8, Path(tempfile.mkdtemp()))
    assert lowered.error is None, lowered.error
    return json.loads(Path(lowered.locations_path).read_text())["layers"]
"""
LAYERS = """
def scaled(x):
    return tf.nn.relu(x) * 2.0  # an activation of one's own

class Block(keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.inner = keras.layers.Dense(16)

    def call(self, x):
        return x + self.inner(x)  # a layer of one's own

strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    inputs = keras.Input((4, 16))
    x = keras.layers.Dense(16, activation=scaled)(inputs)  # first
    for _ in range(2):
        x = keras.layers.Dense(16)(x)  # twice
    x = keras.layers.MultiHeadAttention(2, 8)(x, x)  # made of layers
    x = Block()(x)
    x = keras.layers.LSTM(8)(x)  # a loop
    model = keras.Model(inputs, keras.layers.Dense(2)(x))
    optimizer = keras.optimizers.Adam()  # the optimizer
"""
FIT = """
model.compile(optimizer, "mse")  # the loss
model.fit(tf.ones((16, 4, 16)), tf.ones((16, 2)), batch_size=16, verbose=0)
print(json.dumps(lowered()))
"""
CUSTOM = """
def step(x):
    flat = tf.reshape(x, (-1, 4, 16))  # a reshape without a gradient
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(model(flat) ** 2)  # its own loss
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))  # its own update
    return loss

run = tf.function(lambda x: strategy.run(step, (x,)))
run(tf.ones((8, 4, 16)))
print(json.dumps(lowered()))
"""
BROKEN = """
model = keras.Sequential([keras.layers.Dense(2)])
def broken(*_):
    raise RuntimeError("ours")
operation_lines.OperationLines._note = broken
watch.lines._noting = True
y = model(tf.ones((8, 4)))
print(json.dumps([list(y.shape), [defect.hook for defect in barrier.defects()]]))
"""
FIRST, TWICE = "functional_1/dense_1/MatMul", "functional_1/dense_1_2/MatMul"


@pytest.mark.parametrize(
    ("loop", "update"), [(FIT, "the optimizer"), (CUSTOM, "its own update")], ids=["fit", "custom"]
)
def test_of_layers_gradients_optimizer_and_loss(
    in_tensorflow: InTensorFlow, loop: str, update: str
) -> None:
    program = HOOKS + LAYERS + loop
    lines = in_tensorflow(program)

    def comment(operation: str) -> str:
        place = lines.get(operation, "")
        number = int(place.rpartition(":")[2] or 0)
        return program.splitlines()[number - 1].partition("# ")[2] if place else ""

    def of(*parts: str) -> set[str]:
        found = [name for name in lines if all(part in name for part in parts)]
        assert found, parts
        return {comment(name) for name in found}

    dense = [n for n in lines if n.endswith("/MatMul") and "/dense_" in n and "gradient" not in n]
    assert sorted({comment(name) for name in dense}) == [
        "",
        "a layer of one's own",
        "first",
        "twice",
    ]
    for name in dense:
        assert (
            comment(f"gradient_tape/{name}/MatMul_1") == comment(name) or comment(name) == "first"
        )
    assert of("multi_head_attention") == {"made of layers"}, "its layers were made in the build"
    assert of("lstm") == {"a loop"}, "in the loop's body and its gradient"
    assert of("/Relu") == {"an activation of one's own"}
    assert of("adam/XlaAllReduce") == {update}
    if loop is FIT:
        assert of("compile_loss/") == {"the loss"}
    else:
        assert comment("Reshape") == "a reshape without a gradient"
        assert comment("gradient_tape/Reshape") == "", "that of the sum"


def test_what_fails_of_ours_is_no_matter_of_the_job(in_tensorflow: InTensorFlow) -> None:
    shape, defects = in_tensorflow(HOOKS + BROKEN)
    assert shape == [8, 2] and defects == ["Layer.__call__"]
