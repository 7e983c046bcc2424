"""A function that this machine cannot run is answered by its trace."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.script_run import InterventionKind
from tpudiag.sources.job.points import interventions
from tpudiag.sources.job.tensorflow.shortening.heavy_functions import HeavyFunctions
from tpudiag.sources.job.tensorflow.shortening.loops import InnerLoopWatch
from tpudiag.sources.job.tensorflow.watches.function_record import FunctionRecord

told = []
heavy = HeavyFunctions(tf, told.append)

@tf.function
def reordered(x):
    x = tf.nn.depth_to_space(x, 2, data_format="NCHW")  # of no processor, whatever it is
    return tf.reduce_mean(x, axis=[1, 2, 3]), x

@tf.function
def broken(x):
    with tf.control_dependencies([tf.debugging.assert_equal(tf.reduce_sum(x), 1.0)]):
        return tf.identity(x)

@tf.function
def of_any_batch(start, x):
    chosen = tf.gather(x, tf.where(x[:, 0, 0, 0] > start)[:, 0])
    return tf.ensure_shape(reordered(chosen)[0], [None])

count = tf.Variable(0)

@tf.function
def counted():
    count.assign_add(1)

def counts(*without):
    interventions.begin(without)
    record = FunctionRecord(name="counted", location=None, heavy="9 s")
    heavy.call(record, lambda f: f(), counted, (), {})
    return int(count), [kind.name for kind in interventions.made()]

def called(function, *args):
    record = FunctionRecord(name=function.__name__, location=None)
    try:
        result = heavy.call(record, lambda f, *a: f(*a), function, args, {})
        return [list(each.shape) for each in tf.nest.flatten(result)]
    except tf.errors.InvalidArgumentError:
        return "raised"

steps = []
loops = InnerLoopWatch(tf, lambda: len(steps), lambda: False, print)

@tf.function
def loop(count, trains):
    for _ in tf.range(count):
        steps.extend([1] * trains)
    return loops.turns

x = tf.ones((4, 4, 8, 8))
print(json.dumps({"reordered": called(reordered, x), "broken": called(broken, x), "told": told,
                  "turns": [int(loop(*each)) for each in ((9, False), (3, True), (16, True))],
                  "given": called(of_any_batch, tf.constant(0.0), x),
                  "effects": [counts(), counts(InterventionKind.EFFECTS)]}))
"""


def test_what_only_a_processor_cannot_do_is_traced_and_not_run(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["reordered"] == [[4], [4, 1, 16, 16]]
    assert seen["given"] == [[4]], "an open dimension is that of the batch given"
    assert seen["effects"] == [[0, ["EFFECTS"]], [1, []]], "what gives nothing can be run after all"
    assert seen["broken"] == "raised", "which fails on a TPU, too"
    assert seen["turns"] == [1, 3, 4], "the steps of a loop that is traced alone"
    assert len(seen["told"]) == 3 and "`reordered`" in seen["told"][0]
