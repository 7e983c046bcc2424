"""Which pipeline feeds the training step, in the ways in which people feed one."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.watches import functions, training
from tpudiag.sources.job.tensorflow.input import pipelines
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.watches.strategies import StrategyWatch

tpu_stubs.install(tf, tpu_stubs.TpuSystem(2, 1, 1), 2, on_resolver=lambda name: None)
gradients = training.GradientWatch(tf)
calls = functions.FunctionWatch(tf)
calls.after_call = lambda seen, traced: watch.feeds.called(seen.trains)
def training_starts():
    if calls.current is not None:
        calls.current.trains = True
gradients.on_traced_gradient = training_starts

D = tf.data.Dataset
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    W = tf.Variable(1.0)

def data(name, size=4):
    return D.range(16, name=name).map(lambda x: tf.cast(x, tf.float32)).batch(size)

def replica_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(W * x)
    W.assign_sub(0.0 * tape.gradient(loss, W))
    return loss

def shared(train, val):
    return (strategy.experimental_distribute_dataset(each) for each in (train, val))

def by_batch(train, val):
    @tf.function
    def step(x): return strategy.run(replica_step, (x,))
    @tf.function
    def measure(x): return strategy.run(lambda x: tf.reduce_sum(x * W), (x,))
    train, val = shared(train, val)
    for x in val: measure(x)
    for x in train: step(x)

def by_iterator(train, val):
    @tf.function
    def step(it): return strategy.run(replica_step, (next(it),))
    @tf.function
    def measure(it): return strategy.run(lambda x: tf.reduce_sum(x * W), (next(it),))
    train, val = shared(train, val)
    measure(iter(val)); it = iter(train); step(it); step(it)

def by_closure(train, val):
    train, val = shared(train, val)
    train, val = iter(train), iter(val)
    @tf.function
    def step(): return strategy.run(replica_step, (next(train),))
    @tf.function
    def measure(): return strategy.run(lambda x: tf.reduce_sum(x * W), (next(val),))
    measure(); step(); step()

def by_loop(train, val):
    train, val = shared(train, val)
    @tf.function
    def epoch(data):
        for x in data: strategy.run(replica_step, (x,))
    @tf.function
    def measure(x): return strategy.run(lambda x: tf.reduce_sum(x * W), (x,))
    for x in val: measure(x)
    epoch(train)

def by_closed_loop(train, val):
    train, val = shared(train, val)
    @tf.function
    def epoch():
        for x in train: strategy.run(replica_step, (x,))
    epoch()

def by_function(train, val):
    @tf.function
    def step(it): return strategy.run(replica_step, (next(it),))
    it = iter(strategy.distribute_datasets_from_function(lambda context: train))
    step(it)

def undistributed(train, val):
    @tf.function
    def step(x): return strategy.run(replica_step, (x,))
    for x in val: pass
    for x in train: step(x)

def changed_first(train, val):
    @tf.function
    def step(x): return strategy.run(replica_step, (x,))
    for x in val: pass
    for x in train: step(x * 2.0)

def as_numpy(train, val):
    @tf.function
    def step(x): return strategy.run(replica_step, (x,))
    for x in val.as_numpy_iterator(): pass
    for x in train.as_numpy_iterator(): step(x)

def arrays(train, val):
    @tf.function
    def step(x): return strategy.run(replica_step, (x,))
    shown = [x for x in val.take(1)]
    del shown
    step(tf.ones(4))

def fitted(train, val):
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.Input((1,)), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
    pair = lambda x: (x[:, None], x)
    model.evaluate(val.map(pair), verbose=0)
    model.fit(train.map(pair), validation_data=val.map(pair), epochs=2, verbose=0)

roles = {}
watch = pipelines.PipelineWatch(tf)
for way in (by_batch, by_iterator, by_closure, by_loop, by_closed_loop, by_function, undistributed,
            changed_first, as_numpy, arrays, fitted):
    watch._read.clear()
    watch.feeds.__init__(tf)
    calls.before_call = watch.feeds.calling
    look = data("look")
    for x in look.take(1): pass
    train, val = data("train"), data("val", 8)
    way(train, val)
    roles[way.__name__] = sorted(
        [next(op.batch_size for op in p.ops if op.batch_size), p.trains,
         read.feed.evaluates and not p.trains]
        for p, read in zip(watch.facts(), watch._read.values()) if p.ops[-1].kind != "Take"
    ) + [p.trains for p in watch.facts() if p.ops[-1].kind == "Take"]
print(json.dumps(roles))
"""
SHARED = [[4, True, False], [8, False, True], False]
ALONE = [[4, True, False], [8, False, False], False]
ROLES = {
    "by_batch": SHARED,
    "by_iterator": SHARED,
    "by_closure": SHARED,
    "by_loop": SHARED,
    "by_closed_loop": ALONE,
    "by_function": [[4, True, False], False],
    "undistributed": ALONE,
    "changed_first": ALONE,
    "as_numpy": [[4, True, False], False],
    "arrays": [False, False],
    "fitted": [[4, True, False], [8, False, True], [8, False, True], False],
}


def test_what_feeds_the_step(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(PROGRAM) == ROLES
