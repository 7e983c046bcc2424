"""Gradients that are put together over the replicas twice, and sums of them that stay."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

STRATEGY = """
import keras
from tpudiag.sources.job.tensorflow.watches import gradient_sums, reductions, training

gradients = training.GradientWatch(tf)
watch = reductions.ReductionWatch(tf, gradients)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)
space = {"tf": tf}

def apply(grads):
    optimizer.apply_gradients(zip(grads, model.trainable_variables))

def taken():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(model(tf.ones((4, 3))))
    return tape.gradient(loss, model.trainable_variables)
"""
TWICE = """
SCRIPT = '''
def plain(context, grads):
    return grads

def summed(context, grads):
    return context.all_reduce("sum", grads)

def clipped(context, grads):
    return tf.clip_by_global_norm(context.all_reduce("sum", grads), 1.0)[0]

def divided(context, grads):
    return [g / context.num_replicas_in_sync for g in context.all_reduce("sum", grads)]

def clipped_by_all(context, grads):
    norm = tf.linalg.global_norm(context.all_reduce("sum", grads))
    return tf.clip_by_global_norm(grads, 1.0, use_norm=norm)[0]

def of_metric(context, grads):
    context.all_reduce("sum", [tf.constant(1.0)])
    return grads
'''
exec(compile(SCRIPT, "/job/train.py", "exec"), space)

def seen(name):
    def replica():
        apply(space[name](tf.distribute.get_replica_context(), taken()))
    watch.twice = None
    tf.function(lambda: strategy.run(replica)).get_concrete_function()
    return watch.twice and watch.twice.line

NAMES = ("plain", "summed", "clipped", "divided", "clipped_by_all", "of_metric")
print(json.dumps({n: seen(n) for n in NAMES}))
"""
SUMS = """
SCRIPT = '''
def add(sums, grads):
    for total, grad in zip(sums, grads):
        total.assign_add(grad / 2)

def zero(sums):
    for total in sums:
        total.assign(tf.zeros_like(total))
'''
exec(compile(SCRIPT, "/job/train.py", "exec"), space)
steps = [0]
sums_watch = gradient_sums.GradientSumWatch(tf, watch, lambda: steps[0])

def variable(like):
    made = tf.Variable(
        tf.zeros(like.shape), trainable=False, synchronization=tf.VariableSynchronization.ON_READ,
        aggregation=tf.VariableAggregation.SUM,
    )
    for each in strategy.experimental_local_results(made):
        sums_watch.made(each)
    return made

def seen(how, fewest=3):
    with strategy.scope():
        sums = [variable(each) for each in model.trainable_variables]

    def replica():
        grads = taken()
        if how == "before":
            space["zero"](sums)
        if how == "plain":
            return apply(grads)
        space["add"](sums, grads)

    def apply_sums():
        if how != "plain":
            apply([total.read_value() for total in sums])
        if how == "after":
            space["zero"](sums)

    step = tf.function(lambda: strategy.run(replica))
    update = tf.function(lambda: strategy.run(apply_sums))
    if how == "branch":
        with strategy.scope():
            count = tf.Variable(0)
        update = tf.function(lambda: tf.cond(count > 8, lambda: all_apply(), lambda: None))
        all_apply = lambda: strategy.run(apply_sums)
    sums_watch._applied.clear()
    steps[0] = 0
    for _ in range(fewest):
        if not steps[0]:  # they are traced, and not run: CPUs that are no devices of their own
            step.get_concrete_function(), update.get_concrete_function()
        if how == "eagerly":
            space["zero"](sums)
        steps[0] += 1
    found = sums_watch.facts()
    return found and [found.variables, found.location.line]

NAMES = ("kept", "after", "before", "eagerly", "plain", "branch")
print(json.dumps([seen("kept", fewest=1), {n: seen(n) for n in NAMES}]))
"""


def test_what_is_summed_once_more_and_not_divided(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(STRATEGY + TWICE) == {
        "plain": None,
        "summed": 6,
        "clipped": 9,
        "divided": None,
        "clipped_by_all": None,
        "of_metric": None,
    }


def test_sums_that_nothing_sets_back(in_tensorflow: InTensorFlow) -> None:
    of_first_step, found = in_tensorflow(STRATEGY + SUMS)
    assert of_first_step is None, "it may be set back before the next one"
    assert found.pop("kept") == [2, 4]
    assert set(found.values()) == {None}
