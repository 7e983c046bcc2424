"""Sums of gradients that are applied, and what sets them back."""

import pytest

from tests.sources.job.programs import InTensorFlow

PROGRAM = """
import json
import tensorflow as tf, keras
from tpudiag.sources.job.tensorflow.watches import gradient_sums, reductions, training

SCRIPT = '''
def add(sums, grads):
    for total, grad in zip(sums, grads):
        total.assign_add(grad / 2)

def zero(sums):
    for total in sums:
        total.assign(tf.zeros_like(total))
'''
space = {"tf": tf}
exec(compile(SCRIPT, "/job/train.py", "exec"), space)
gradients = training.GradientWatch(tf)
steps = [0]
sums_seen = []
reduced = reductions.ReductionWatch(tf, gradients)
watch = gradient_sums.GradientSumWatch(tf, reduced, lambda: steps[0])
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])

def variable(like):
    made = tf.Variable(
        tf.zeros(like.shape), trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    for each in strategy.experimental_local_results(made):
        watch.made(each)
    return made

def seen(how, fewest=3):
    with strategy.scope():
        model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
        optimizer = keras.optimizers.SGD(0.1)
        optimizer.build(model.trainable_variables)
        sums = [variable(each) for each in model.trainable_variables]

    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.ones((4, 3))))
        grads = tape.gradient(loss, model.trainable_variables)
        if how == "before":
            space["zero"](sums)
        if how == "plain":
            return optimizer.apply_gradients(zip(grads, model.trainable_variables))
        space["add"](sums, grads)

    def apply():
        if how != "plain":
            totals = [total.read_value() for total in sums]
            optimizer.apply_gradients(zip(totals, model.trainable_variables))
        if how == "after":
            space["zero"](sums)

    step = tf.function(lambda: strategy.run(replica))
    update = tf.function(lambda: strategy.run(apply))
    if how == "branch":
        with strategy.scope():
            count = tf.Variable(0)
        update = tf.function(lambda: tf.cond(count > 8, lambda: apply_all(), lambda: None))
        apply_all = lambda: strategy.run(apply)
    watch._applied.clear()
    steps[0] = 0
    for _ in range(fewest):
        if not steps[0]:  # they are traced, and not run: CPUs that are no devices of their own
            step.get_concrete_function(), update.get_concrete_function()
        if how == "eagerly":
            space["zero"](sums)
        steps[0] += 1
    found = watch.facts()
    return found and [found.variables, found.location.line]

NAMES = ("kept", "after", "before", "eagerly", "plain", "branch")
print(json.dumps([seen("kept", fewest=1), {n: seen(n) for n in NAMES}]))
"""


@pytest.mark.slow
def test_sums_that_nothing_sets_back(in_tensorflow: InTensorFlow) -> None:
    of_first_step, found = in_tensorflow(PROGRAM)
    assert of_first_step is None, "it may be set back before the next one"
    assert found.pop("kept") == [2, 4]
    assert set(found.values()) == {None}
