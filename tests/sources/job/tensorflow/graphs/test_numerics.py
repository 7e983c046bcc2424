"""What is bad for the numbers of a traced step."""

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
from tpudiag.sources.job.tensorflow.graphs import numerics
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
W = tf.Variable(tf.ones((16, 8)))
mean = tf.Variable(tf.zeros((8,)))

def facts(loss_of):
    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(x, y)
        return tape.gradient(loss, W)
    step.get_concrete_function(tf.TensorSpec((4, 16)), tf.TensorSpec((4,), tf.int32))
    return numerics.read(tf, watch.calls[-1], lambda name: None, ())

def half(x, y):
    logits = tf.cast(x, tf.bfloat16) @ tf.cast(W, tf.bfloat16)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

def placed(x, y):
    near, far = (tf.cast(tf.range(n), tf.bfloat16) for n in (257, 1024))
    return whole(x, y) + tf.cast(near[-1] + far[-1], tf.float32)

def whole(x, y):
    logits = tf.cast(tf.cast(x, tf.bfloat16) @ tf.cast(W, tf.bfloat16), tf.float32)
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits))

def normalised(x, y):
    with tf.name_scope("norm"):
        h = x @ W
        m, v = tf.nn.moments(h, [0])
        mean.assign(m)
    return tf.reduce_mean((h - m) / tf.sqrt(v + 1e-3))

def layer_norm(x, y):
    with tf.name_scope("norm"):
        h = x @ W
        m, v = tf.nn.moments(h, [-1], keepdims=True)
    return tf.reduce_mean((h - m) / tf.sqrt(v + 1e-3))

def routed(x, y):
    with tf.name_scope("experts"):
        gates = tf.nn.softmax(x @ W)
        chosen = tf.argmax(gates, -1)
        sent = tf.one_hot(chosen, 8)
        place = tf.cumsum(sent, 0) * sent
        kept = tf.one_hot(tf.cast(tf.reduce_sum(place, -1), tf.int32), 3)
    return tf.reduce_sum(gates * sent) + tf.reduce_sum(kept)

def mapped(x, y):
    one = lambda example: tf.reduce_sum(example[None] @ W)
    frames = tf.map_fn(one, tf.reshape(x, (8, 8)) @ tf.ones((8, 16)))
    loop = tf.while_loop(lambda n: n < 4, lambda n: n + 1, [0])[0]
    return tf.reduce_mean(tf.map_fn(one, x)) + tf.reduce_sum(frames) + tf.cast(loop, tf.float32)

print(json.dumps({
    "mapped": [each.turns for each in facts(mapped).serial_maps],
    "half": [[op.op, op.dtype] for op in facts(half).low_precision],
    "whole": len(facts(whole).low_precision), "loss": facts(whole).loss_dtype,
    "norms": [[norm.name, norm.examples] for norm in facts(normalised).batch_norms],
    "layer norms": len(facts(layer_norm).batch_norms),
    "merged": [[m.count, m.different] for m in facts(placed).merged],
    "routed": [[r.experts, r.chosen, r.tokens, r.capacity] for r in facts(routed).routings],
}))
"""


def test_16_bits_norms_and_experts(in_tensorflow: InTensorFlow) -> None:
    results = in_tensorflow(PROGRAM)
    assert results["half"] == [["SparseSoftmaxCrossEntropyWithLogits", "bfloat16"]]
    assert results["whole"] == 0 and results["loss"] == "float32"
    assert results["merged"] == [[1024, 513]], "all up to 256, every second to 512, every fourth"
    assert results["norms"] == [["norm", 4]]
    assert results["layer norms"] == 0, "its mean is over the channels"
    assert results["mapped"] == [8, 4]
    assert results["routed"] == [[8, 1, 4, 3]]
