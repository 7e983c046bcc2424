"""The sizes of the products in small traced steps."""

from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow

pytestmark = pytest.mark.slow

PROGRAM = """
import os, threading
from tpudiag.sources.job.tensorflow.graphs import graphs, matrix_products
from tpudiag.sources.job.tensorflow.watches import training

watch = training.GradientWatch(tf)
A, B, C = (tf.Variable(tf.ones(shape)) for shape in ((784, 128), (128, 10), (3, 3, 8, 16)))
E, D, H = (tf.Variable(tf.ones(shape)) for shape in ((50, 24), (24, 32), (32, 4, 8)))

def products(forward, *specs):
    @tf.function
    def step(*inputs):
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(forward(*inputs))
        return tape.gradient(value, [A, B, C, E, D, H])
    step.get_concrete_function(*specs)
    ops = matrix_products.matrix_ops(tf, watch.calls[-1], lambda name: None, 64)
    uses.append([o.weight_uses for o in ops if o.forward])
    flops.append(sum(o.flops for o in ops if o.forward))
    return [[o.batch, o.rows, o.contraction, o.columns, o.sizes_known, o.reads_embedding]
            for o in ops if o.forward]

uses, flops = [], []
S = tf.Variable(tf.ones((16, 16)))
def unrolled(x):
    for _ in range(3):
        x = tf.tanh(x @ tf.cast(S, x.dtype))
    return x
def looped(x):
    return tf.while_loop(lambda x: True, lambda x: [tf.tanh(x @ S)], [x], maximum_iterations=3)[0]
for forward in (unrolled, looped):
    products(forward, tf.TensorSpec((8, 16)))

def spec(*shape, dtype=tf.float32):
    return tf.TensorSpec(shape, dtype)

def half_convolution():
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            product = tf.nn.conv2d(x, tf.cast(C, x.dtype), 1, "SAME")
            value = tf.reduce_sum(tf.nn.relu(product))
        return tape.gradient(value, C)
    step.get_concrete_function(spec(4, 8, 8, 8, dtype=tf.bfloat16))
    call = watch.calls[-1]
    (op,) = [o for o in matrix_products.matrix_ops(tf, call, lambda name: None) if o.forward]
    (ran,) = [o for o in call.graph.get_operations() if o.type == "Conv2D"]
    return [op.dtype, ran.inputs[0].dtype.name, graphs.activations(call).activation_bytes]

def kept(trained):
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            value = tf.reduce_sum(tf.nn.softmax(tf.nn.softmax(tf.sin(x @ A)) @ B))
        return tape.gradient(value, trained)
    step.get_concrete_function(spec(64, 784))
    return graphs.activations(watch.calls[-1]).activation_bytes

OF_A_LIBRARY = '''
inner = tf.function(lambda x: x @ A, autograph=False)
def step(x):
    with tf.GradientTape() as tape, tf.name_scope("lstm"):
        value = tf.reduce_sum(inner(x))
    return tape.gradient(value, A)
traced = tf.function(step, autograph=False).get_concrete_function
'''

def line_in_a_function():
    code = {"tf": tf, "A": A}
    exec(compile(OF_A_LIBRARY, "<library>", "exec"), code)
    thread = threading.Thread(target=code["traced"], args=(spec(64, 784),))
    thread.start()
    thread.join()
    named = lambda name: "its line" if name.startswith("lstm/") else None
    ops = matrix_products.matrix_ops(tf, watch.calls[-1], named)
    return [str(op.location) for op in ops if op.forward]

print(json.dumps({
    "uses": uses, "flops": flops,
    "kept": [kept([B]), kept([A, B])],
    "half": half_convolution(), "line": line_in_a_function(),
    "mlp": products(lambda x: (x @ A) @ B, spec(None, 784)),
    "conv": products(lambda x: tf.nn.conv2d(x, C, 1, "SAME"), spec(None, 4, 4, 8)),
    "any size": products(lambda x: tf.nn.conv2d(x, C, 1, "SAME"), spec(None, None, None, 8)),
    "embedded": products(lambda x: tf.reduce_mean(tf.nn.embedding_lookup(E, x), 1) @ D,
                         spec(None, 7, dtype=tf.int32)),
    "attention": products(lambda q: tf.einsum("btnh,bsnh->bnts", q, q), spec(None, 16, 4, 8)),
    "any lead": products(lambda x: tf.einsum("...d,dnh->...nh", x, H), spec(None, 16, 32)),
    "any length": products(lambda q: tf.matmul(q, q, transpose_b=True), spec(None, None, 8)),
    "joined": products(
        lambda x: tf.nn.relu(tf.tensordot(x, A, 1)) + tf.tensordot(x, A, 1), spec(None, 16, 784)
    ),
    "joined by hand": products(
        lambda x: tf.nn.relu(tf.reshape(x, [-1, 784]) @ A + 1.0) @ B, spec(None, 16, 784)
    ),
}))
"""


@pytest.fixture(scope="module")
def products(in_tensorflow: InTensorFlow) -> dict[str, Any]:
    read: dict[str, Any] = in_tensorflow(PROGRAM)
    return read


def test_an_unknown_batch_is_the_replicas_in_every_product(products: dict[str, Any]) -> None:
    assert products["mlp"] == [[1, 64, 784, 128, True, False], [1, 64, 128, 10, True, False]]
    assert products["conv"] == [[1, 64 * 16, 72, 16, True, False]]


def test_a_product_of_another_unknown_dimension_is_kept_and_says_so(
    products: dict[str, Any],
) -> None:
    assert products["any size"] == [[1, 64 * 128 * 128, 72, 16, False, False]]
    assert products["any length"] == [[64, 128, 8, 128, False, False]]


def test_batch_and_length_that_a_layer_joined_are_its_rows(products: dict[str, Any]) -> None:
    assert products["joined"] == [[1, 64 * 16, 784, 128, True, False]] * 2
    assert products["joined by hand"] == [
        [1, 64 * 16, 784, 128, True, False],
        [1, 64 * 16, 128, 10, True, False],
    ]


def test_a_width_that_an_embedding_makes(products: dict[str, Any]) -> None:
    assert products["embedded"] == [[1, 64, 24, 32, True, True]]


def test_einsum(products: dict[str, Any]) -> None:
    assert products["attention"] == [[64 * 4, 16, 8, 16, True, False]]
    assert products["any lead"] == [[1, 64 * 16, 32, 32, True, False]]


def test_a_loop_of_python_has_a_product_for_each_turn(products: dict[str, Any]) -> None:
    assert products["uses"][:2] == [[3, 3, 3], [1]]
    assert products["flops"][:2] == [3 * 2 * 8 * 16 * 16] * 2, "one of the graph makes as many"


def test_a_convolution_in_16_bits_is_told_as_one_and_runs_in_32(products: dict[str, Any]) -> None:
    asked, ran, kept_bytes = products["half"]
    assert (asked, ran) == ("bfloat16", "bfloat16")
    assert kept_bytes == 4 * 8 * 8 * 16 * 2, "no gradient of the input is asked for"


def test_a_product_in_a_function_has_the_line_of_its_call(products: dict[str, Any]) -> None:
    assert products["line"] == ["its line"]


def test_what_lies_below_frozen_weights_is_not_kept(products: dict[str, Any]) -> None:
    frozen, trained = products["kept"]
    assert 0 < frozen < trained
