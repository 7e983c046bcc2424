"""The stand-ins beside what they stand in for, in this TensorFlow."""

from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import tensorflow.compat.v2 as tf_v2
from tpudiag.sources.job.tensorflow.devices import tpu_stubs
from tpudiag.sources.job.tensorflow.devices.tpu_system import TpuSystem

def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}

NAMES = {
    "TPUStrategy": lambda: tf.distribute.TPUStrategy,
    "experimental.TPUStrategy": lambda: tf.distribute.experimental.TPUStrategy,
    "compat.v1 TPUStrategy": lambda: tf.compat.v1.distribute.experimental.TPUStrategy,
    "TPUClusterResolver": lambda: tf.distribute.cluster_resolver.TPUClusterResolver,
}
real = {name: public(get()) for name, get in NAMES.items()}
from tensorflow.python.distribute import tpu_strategy
real["extended"] = public(tpu_strategy.TPUExtended)
tpu_stubs.install(tf, TpuSystem(8, devices_per_chip=2), 2, lambda name: None)
missing = {name: sorted(real[name] - public(get())) for name, get in NAMES.items()}
resolver = tf.distribute.cluster_resolver.TPUClusterResolver.connect("local")
tf.config.experimental_connect_to_cluster(resolver)
topology = tf.tpu.experimental.initialize_tpu_system(resolver)
strategy = tf.distribute.TPUStrategy(resolver)
missing["extended"] = sorted(real["extended"] - public(strategy.extended))
assignment = tf.tpu.experimental.DeviceAssignment.build(
    topology, computation_shape=[1, 1, 1, 2], num_replicas=4
)
split = tf.distribute.TPUStrategy(resolver, experimental_device_assignment=assignment)
old = tf.compat.v1.distribute.experimental.TPUStrategy(resolver)
metadata = resolver.get_tpu_system_metadata()
with strategy.scope():
    inside = strategy.experimental_split_to_logical_devices(tf.ones((4, 2)), [2, 1])
with tf.device("/job:worker/replica:0/task:1/TPU:1"):
    placed = tf.constant(1) + 1
    with tf.device("/task:1"), tf.device("/job:worker"):
        placed += 1
def replica(x):
    with tf.distribute.get_replica_context().experimental_logical_device(0):
        number = tf.distribute.get_replica_context().replica_id_in_sync_group
        return strategy.experimental_assign_to_logical_device(x + tf.cast(number, x.dtype), 0)
with tf.Graph().as_default():
    one = tf.constant(1)
    with tf.compat.v1.Session("grpc://10.0.0.2:8470") as session:
        there = int(session.run(one)), len(session.list_devices())
print(json.dumps({
    "missing": missing,
    "one class": tf_v2.distribute.TPUStrategy is tf.distribute.TPUStrategy
        and isinstance(strategy, tf.distribute.experimental.TPUStrategy),
    "replicas": [s.num_replicas_in_sync for s in (strategy, split, old)],
    "hosts": [strategy.extended.num_hosts, strategy.extended.num_replicas_per_host],
    "topology": [topology.num_tasks, topology.num_tpus_per_task, topology.mesh_rank],
    "metadata": [metadata.num_cores, metadata.num_hosts, len(metadata.devices)],
    "embedding": strategy.extended.tpu_hardware_feature.embedding_feature.name,
    "inside": inside.shape.as_list(), "placed": placed.device[-5:],
    "ran": float(strategy.reduce("SUM", strategy.run(replica, (tf.ones(2),)), axis=None)[0]),
    "there": there,
    "listed": len(tf.compat.v2.config.list_logical_devices("TPU")),
}))
"""


@pytest.fixture(scope="module")
def seen(in_tensorflow: InTensorFlow) -> dict[str, Any]:
    said: dict[str, Any] = in_tensorflow(PROGRAM)
    return said


def test_no_public_name_is_missing(seen: dict[str, Any]) -> None:
    assert {name: names for name, names in seen["missing"].items() if names} == {}


def test_they_answer_as_the_target(seen: dict[str, Any]) -> None:
    assert seen["one class"]
    assert seen["replicas"] == [8, 4, 8]
    assert seen["hosts"] == [1, 8]
    assert seen["topology"] == [1, 8, 4]
    assert seen["metadata"] == [8, 1, 8]
    assert (seen["embedding"], seen["listed"]) == ("UNSUPPORTED", 8)


def test_what_a_tpu_would_place_runs_on_the_cpu_replicas(seen: dict[str, Any]) -> None:
    assert seen["inside"] == [4, 2]
    assert seen["placed"] == "CPU:1"
    assert seen["ran"] == 1 + 2
    assert seen["there"][0] == 1 and seen["there"][1] > 0, "no node is waited for"
