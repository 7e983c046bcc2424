"""The strategy that replaces a TPU's."""

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.sources.job.tensorflow.devices.cpu_kernels import is_of_many

pytestmark = pytest.mark.slow

PROGRAM = """
import sys
from tpudiag.sources.job.tensorflow.devices import tpu_stubs

tpu_stubs.install(tf, tpu_stubs.TpuSystem(16, 2, 1), 2, on_resolver=lambda name: None)
strategy = tf.distribute.TPUStrategy()
data = tf.data.Dataset.range(96).batch(32, drop_remainder=True)
parts = [
    [each.shape[0] for each in strategy.experimental_local_results(x)]
    for x in strategy.experimental_distribute_dataset(data)
]
contexts = []
def of_host(context):
    contexts.append([context.num_replicas_in_sync, context.num_input_pipelines])
    return tf.data.Dataset.range(8).batch(context.get_per_replica_batch_size(64))
next(iter(strategy.distribute_datasets_from_function(of_host)))
def branched(x):
    if x > 0:
        x = x + 1
    return x
caller = []
def note():
    caller.append(sys._getframe(1).f_code.co_name)
strategy._tpudiag_note_fewer = note
@tf.function
def traced(x):
    return strategy.run(branched, (x,))
traced = [float(x) for x in strategy.experimental_local_results(traced(tf.constant(1.0)))]
@tf.function
def summed():
    def each():
        values = [tf.constant(1.0), tf.constant(1.0, tf.bfloat16), tf.constant(2.0)]
        return tf.distribute.get_replica_context().all_reduce("SUM", values)
    return strategy.run(each)
mixed = strategy.experimental_local_results(summed())[0]
type(strategy).tpudiag_whole_batches = True
whole = next(iter(strategy.experimental_distribute_dataset(data)))
print(json.dumps({
    "name": type(strategy).__name__, "is": isinstance(strategy, tf.distribute.TPUStrategy),
    "replicas": strategy.num_replicas_in_sync, "parts": parts, "contexts": contexts,
    "hosts": strategy.extended.num_hosts, "per host": strategy.extended.num_replicas_per_host,
    "whole": sum(each.shape[0] for each in strategy.experimental_local_results(whole)),
    "traced": traced, "caller": caller, "mixed": [float(each) for each in mixed],
    "ran": len(strategy.experimental_local_results(strategy.run(lambda: tf.constant(1)))),
}))
"""


def test_it_looks_as_the_target_and_runs_two_replicas(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["is"] and seen["name"].startswith("TPUStrategy"), "Keras looks at the name"
    assert (seen["replicas"], seen["hosts"], seen["per host"]) == (16, 2, 8)
    assert seen["parts"] == [[2, 2]] * 3, "of 32 examples the part of two of sixteen replicas"
    assert seen["contexts"] == [[16, 1]]
    assert (seen["whole"], seen["ran"]) == (32, 2)
    assert seen["traced"] == [2, 2], "a branch on a tensor is the graph's"
    assert seen["mixed"] == [2, 2, 4], "values of two types are summed together"
    assert seen["caller"][:1] == ["run"], "AutoGraph converts the user's function, and not ours"


MERGED = """
from tpudiag.sources.job.tensorflow.devices import tpu_stubs

tpu_stubs.install(tf, tpu_stubs.TpuSystem(8, 1, 1), REPLICAS, on_resolver=lambda name: None)
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    weight = tf.Variable(3.0)
script = code_of('''
def merge(strategy, x):
    return strategy.reduce("SUM", x, axis=None)
def step():
    with tf.GradientTape() as tape:
        loss = tf.distribute.get_replica_context().merge_call(merge, (weight * 2,)) ** 2
    return tape.gradient(loss, weight)
''')
exec(script)
run = tf.function(lambda: strategy.experimental_local_results(strategy.run(step))[0])
try:
    print(json.dumps(float(run())))
except RuntimeError as error:
    print(json.dumps(str(error)))
"""


def test_replicas_that_merge_within_a_tape_are_one(in_tensorflow: InTensorFlow) -> None:
    assert is_of_many(in_tensorflow(MERGED.replace("REPLICAS", "2")))
    assert in_tensorflow(MERGED.replace("REPLICAS", "1")) == 24
