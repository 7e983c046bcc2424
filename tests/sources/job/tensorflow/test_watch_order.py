"""All watches of a rehearsal together, on a small job."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.sources.job.tensorflow import job_facts
from tpudiag.sources.job.tensorflow.step_reader import StepReader
from tpudiag.sources.job.tensorflow.watch_order import Watches

facts = told.facts
spec = JobSpec(program="job.py", arguments=(), warmup_steps=1, budget_s=0.0, steps=4,
               log_dir="", rehearse=True, replicas=8, real_replicas=2,
               hosts=1, devices_per_chip=1)
watches = Watches(tf, spec, told, lambda path: path, lambda: None, lambda which: None)
watches.strategies.before_first_run = lambda: facts.update(run=True)
reader = StepReader(tf, watches, told)
reader.read()
before = dict(facts)
resolver = tf.distribute.cluster_resolver.TPUClusterResolver(tpu="my-tpu")
strategy = tf.distribute.TPUStrategy(resolver)
with strategy.scope():
    W = tf.Variable(tf.ones((16, 8)))

def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(x @ W)
    gradient = tape.gradient(loss, W)
    W.assign_sub(tf.distribute.get_replica_context().all_reduce("sum", gradient))
    return loss

@tf.function
def step(x):
    return strategy.run(trained, (x,))

data = tf.data.Dataset.from_tensor_slices(tf.ones((1024, 16))).batch(128, drop_remainder=True)
for x in strategy.experimental_distribute_dataset(data):
    step(x)
reader.read()
product = facts["matrix_ops"][0]
inputs = [list(each.shape) for each in reader.inputs()]
whole = watches.whole
whole.begin()
for _ in range(3):
    for x in strategy.experimental_distribute_dataset(data):
        step(x)

def tuned(x):
    with tf.GradientTape() as tape:
        tf.print(x)
        loss = tf.reduce_mean(x @ W)
    return tape.gradient(loss, W)

@tf.function
def on_host(x):
    U = tf.ones((16, 8))
    with tf.GradientTape() as tape:
        tape.watch(U)
        tf.print("host")
        loss = tf.reduce_mean(x @ U)
    return tape.gradient(loss, U)

tf.function(lambda x: strategy.run(tuned, (x,)))(tf.ones((8, 16)))
on_host(tf.ones((8, 16)))
first_ops = facts["step_ops"].found
reader.read_others()
whole.ended_by(None)
coverage = whole.coverage("finished")
print(json.dumps({
    "early": sorted(set(before) - {"tpu_named"}), "named": facts["tpu_named"], "run": facts["run"],
    "batch": [facts["batch"].per_replica_batch, facts["batch"].global_batch],
    "product": [product.rows, product.contraction, product.columns],
    "variables": [[v.name, v.in_scope if hasattr(v, "in_scope") else True]
                  for v in job_facts._variables(watches)],
    "inputs": inputs,
    "first": [op.kind for op in first_ops],
    "others": [[op.kind, op.calls_host] for op in facts["step_ops"].found],
    "end": coverage.end,
    "functions": [[f.name, f.ran > 0, f.ran + f.forwarded] for f in coverage.functions],
}))
"""


def test_a_small_job_is_seen_whole(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["early"] == [], "nothing is read before a gradient was traced"
    assert seen["named"] == "my-tpu" and seen["run"]
    assert seen["batch"] == [16, 128] and seen["product"] == [16, 16, 8]
    assert len(seen["variables"]) == 1 and seen["inputs"] == [[16, 16]]
    assert seen["first"] == [], "nothing of the step that was observed calls the host"
    assert seen["others"] == [["PrintV2", True]], "a later step on the replicas does, once"
    assert seen["end"] == "finished"
    name, ran, calls = seen["functions"][0]
    assert name == "step" and ran and calls == 8 + 24, "each call ran or was forwarded"
