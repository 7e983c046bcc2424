"""Regularisers that are no part of the loss, callbacks that count dispatches, seeds of replicas."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import linecache
import keras
from tpudiag.sources.job.tensorflow.graphs import penalties, random_seeds
from tpudiag.sources.job.tensorflow.watches import batch_hooks, training

SCRIPT = '''
def noise(seed):
    return tf.random.stateless_normal([4, 3], seed)

def noise_like(data):
    return tf.random.stateless_normal(tf.shape(data), [7, 8])

def added(model, x):
    return tf.reduce_sum(model(x)) / 32 + tf.add_n(model.losses)

class Counting(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.step = 0
    def on_train_batch_begin(self, batch, logs=None):
        self.step += 1
        self.model.optimizer.learning_rate = 0.1 / self.step

class ByBatch(keras.callbacks.Callback):
    def on_train_batch_begin(self, batch, logs=None):
        self.model.optimizer.learning_rate = 0.1 / (batch + 1)
'''
space = {"tf": tf, "keras": keras}
exec(compile(SCRIPT, "/job/train.py", "exec"), space)
gradients, watch, hooks = (
    training.GradientWatch(tf), penalties.RegularizerWatch(tf), batch_hooks.BatchHookWatch()
)
watch.watch_keras(keras)
hooks.watch_keras(keras)
l2 = keras.regularizers.L2(1e-3)
seen = {}

def taken(model, loss_of):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(model, x)
        return tape.gradient(loss, model.trainable_variables)
    step.get_concrete_function(tf.TensorSpec((4, 3)))
    unused = watch.unused(gradients.calls[-1])
    whole = penalties.undivided(tf, gradients.calls[-1], 8)
    return [unused.variables if unused is not None else 0, whole and whole.line]

def model_of(**options):
    return keras.Sequential([keras.Input((3,)), keras.layers.Dense(2, **options)])

plain = lambda model, x: tf.reduce_sum(model(x)) / 32
divided = lambda model, x: (tf.reduce_mean(model(x)) + tf.add_n(model.losses)) / 8
folded = lambda model, x: plain(model, x) + 0.01 / 8 * tf.nn.l2_loss(model.weights[0])
seen["forgotten"] = taken(model_of(kernel_regularizer=l2), plain)
for name, form in dict(added=space["added"], divided=divided, folded=folded).items():
    seen[name] = taken(model_of(kernel_regularizer=l2), form)
seen["zero"] = taken(model_of(kernel_regularizer=keras.regularizers.L2(0.0)), plain)
seen["none"] = taken(model_of(), plain)

strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    weight, counter = tf.Variable(tf.ones((3, 1))), tf.Variable(3)

def drawn(seed_of, noise=None):
    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((noise() if noise else space["noise"](seed_of())) @ weight)
        return tape.gradient(loss, weight)
    tf.function(lambda: strategy.run(replica)).get_concrete_function()
    return [[s.copies, s.location.line] for s in random_seeds.same_draws(tf, gradients.calls[-1])]

number = lambda: tf.distribute.get_replica_context().replica_id_in_sync_group
data = iter(tf.data.Dataset.from_tensors(tf.ones((32, 3))).repeat())
shaped = lambda: space["noise_like"](next(data))
seen["one seed, the shape of data"] = drawn(lambda: None, shaped)
seen["one seed"] = drawn(lambda: tf.stack([7, counter.read_value()]))
seen["of the replica"] = drawn(lambda: tf.stack([number(), counter.read_value()]))

model = model_of()
model.compile("sgd", "mse")
calls = [space["Counting"](), space["ByBatch"]()]
model.fit(tf.ones((8, 3)), tf.ones((8, 2)), batch_size=2, verbose=0, callbacks=calls)
seen["hooks"] = [[h.name, h.counter, h.calls] for h in hooks.facts()]
print(json.dumps(seen))
"""


def test_what_is_forgotten_counted_and_drawn_alike(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["forgotten"] == [1, None]
    assert seen["added"] == [0, 9], "each replica adds it whole"
    assert [seen[n] for n in ("divided", "folded", "zero", "none")] == [[0, None]] * 4
    assert seen["one seed"] == [[2, 3]]
    assert seen["of the replica"] == []
    assert seen["one seed, the shape of data"] == [[2, 6]]
    assert seen["hooks"] == [["Counting.on_train_batch_begin", "step", 4]]
