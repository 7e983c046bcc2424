"""Gradients that are put together over the replicas twice."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import keras
from tpudiag.sources.job.tensorflow.watches import reductions, training

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
space = {"tf": tf}
exec(compile(SCRIPT, "/job/train.py", "exec"), space)
gradients = training.GradientWatch(tf)
watch = reductions.ReductionWatch(tf, gradients)
strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
with strategy.scope():
    model = keras.Sequential([keras.Input((3,)), keras.layers.Dense(2)])
    optimizer = keras.optimizers.SGD(0.1)
    optimizer.build(model.trainable_variables)

def seen(name):
    def replica():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(model(tf.ones((4, 3))))
        grads = tape.gradient(loss, model.trainable_variables)
        grads = space[name](tf.distribute.get_replica_context(), grads)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))
    watch.twice = None
    tf.function(lambda: strategy.run(replica)).get_concrete_function()
    return watch.twice and watch.twice.line

NAMES = ("plain", "summed", "clipped", "divided", "clipped_by_all", "of_metric")
print(json.dumps({n: seen(n) for n in NAMES}))
"""


def test_what_is_summed_once_more_and_not_divided(in_tensorflow: InTensorFlow) -> None:
    assert in_tensorflow(PROGRAM) == {
        "plain": None,
        "summed": 6,
        "clipped": 9,
        "divided": None,
        "clipped_by_all": None,
        "of_metric": None,
    }
