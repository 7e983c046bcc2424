"""Draws whose seeds are the same on all replicas, wherever the step is called."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow.graphs.random_seeds import same_draws

PROGRAM = """
import json
import tensorflow as tf
from tpudiag.sources.job.tensorflow.graphs import random_seeds
from tpudiag.sources.job.tensorflow.watches import training

cpu = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
watch = training.GradientWatch(tf)
with strategy.scope():
    w = tf.Variable(1.0)

def step(x, number):
    seed = tf.distribute.get_replica_context().replica_id_in_sync_group
    with tf.GradientTape() as tape:
        same = tf.random.stateless_normal((4, 8), [17, 0])
        later = tf.random.stateless_normal((4, 8), [17, number])
        own = tf.random.stateless_normal((4, 8), tf.stack([seed, 0]))
        loss = tf.reduce_sum((x + same + later + own) * w)
    return tape.gradient(loss, w)

@tf.function
def once(number):
    return strategy.run(step, (tf.ones((4, 8)), number))

@tf.function
def many(count):
    for number in tf.range(count):
        strategy.run(step, (tf.ones((4, 8)), number))

def found(traced):
    traced.get_concrete_function(tf.TensorSpec((), tf.int32))
    same = random_seeds.same_draws(tf, watch.calls[-1])
    return [[draw.location.line, draw.copies, draw.each_step] for draw in same]

print(json.dumps([found(once), found(many)]))
"""


def _operation(kind: str, name: str, *inputs: SimpleNamespace) -> SimpleNamespace:
    """One with one result, of 4 x 8."""
    shape = SimpleNamespace(rank=2, as_list=lambda: [4, 8])
    own = SimpleNamespace(type=kind, name=name, inputs=inputs, traceback=())
    own.outputs = [SimpleNamespace(op=own, shape=shape)]
    return own


@pytest.mark.parametrize("scope", ["", "while/", "while/cond/"])
def test_the_other_replica_is_found_within_the_scope_of_a_loop(
    scope: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Any] = []
    for replica in ("", "replica_1/", "replica_2/"):
        seed = _operation("Const", f"{scope}{replica}seed")
        name = f"{scope}{replica}draw"
        draw = _operation("StatelessRandomNormalV2", name, seed.outputs[0], seed.outputs[0])
        made += [seed, draw]
    call: Any = SimpleNamespace(graph=SimpleNamespace(get_operations=lambda: made))

    def own_line(_: object, **__: object) -> str:
        return scope

    def same(*_: object) -> bool:
        return True

    room = "tpudiag.sources.job"
    monkeypatch.setattr(f"{room}.points.user_lines.of_operation", own_line)
    monkeypatch.setattr(f"{room}.tensorflow.graphs.random_seeds._same", same)
    tf: Any = None
    [found] = same_draws(tf, call)
    assert found.copies == 3 and found.each_step


@pytest.mark.slow
def test_constant_seeds_are_alike_on_replicas_and_in_steps(
    in_tensorflow: Callable[[str], Any],
) -> None:
    lines = PROGRAM.splitlines()
    fixed, later = (
        next(n for n, text in enumerate(lines, 1) if text.strip().startswith(name))
        for name in ("same =", "later =")
    )
    assert in_tensorflow(PROGRAM) == [[[fixed, 2, True], [later, 2, False]]] * 2
