"""What a step costs a machine that is to rehearse it."""

from typing import Any

import pytest

from tests.sources.job.programs import InTensorFlow
from tpudiag.sources.job.tensorflow.graphs import graphs, matrix_products


@pytest.mark.slow
def test_a_product_in_a_loop_runs_as_often_as_the_loop_turns() -> None:
    import tensorflow as tf

    def turns(function: Any, *arguments: Any) -> set[int]:
        graph = tf.function(function).get_concrete_function(*arguments).graph
        inside = graphs.operations(graph)
        products = (within for each, within in inside if each.type == "MatMul")
        return {matrix_products.turns(tf, within) for within in products}

    def recurrence(state: Any, most: int | None) -> Any:
        def goes_on(turn: Any, _: Any) -> Any:
            return turn < 5

        def step(turn: Any, state: Any) -> Any:
            return turn + 1, tf.matmul(state, state)

        return tf.while_loop(goes_on, step, (0, state), maximum_iterations=most)[1]

    def known(state: Any) -> Any:
        return recurrence(state, 1200)

    def unknown(state: Any) -> Any:
        return recurrence(state, None)

    def of_row(row: Any) -> Any:
        return recurrence(row, 3)

    square = tf.zeros([4, 4])
    assert turns(known, square) == {1200}
    assert turns(unknown, square) == {1}

    @tf.function  # type: ignore[untyped-decorator]
    def over_rows(rows: Any) -> Any:
        return tf.map_fn(of_row, rows)

    def called(rows: Any) -> Any:
        return over_rows(rows) + 1.0

    # As a recurrent layer of Keras 2 is: a loop over a stack, in a function of its own.
    assert turns(called, tf.zeros([50, 4, 4])) == {150}


PROGRAM = """
from functools import partial
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.sources.job.tensorflow import fitting_replicas
from tpudiag.sources.job.points import interventions
from tpudiag.sources.job.tensorflow.watch_order import Watches

heavy, traces = [], []
spec = JobSpec(program="job.py", arguments=(), warmup_steps=1, budget_s=0.0, steps=4,
               log_dir="", rehearse=True, replicas=8, real_replicas=1, hosts=1)
watches = Watches(tf, spec, told, lambda path: path, lambda: None, heavy.append)
watches.gradients.on_first_replica = partial(
    fitting_replicas.judge_speed, tf, spec, watches)
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    W = tf.Variable(tf.ones((4096, 4096)))

def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(tf.repeat(x, 4096, axis=1), W), axis=1)
        loss = tf.nn.compute_average_loss(loss, global_batch_size=32768)
    gradient = tape.gradient(loss, W)
    W.assign_sub(tf.distribute.get_replica_context().all_reduce("sum", gradient))
    return loss

@tf.function
def step(iterator):
    traces.append(1)
    return strategy.run(trained, (next(iterator),))

@tf.function
def packed(iterator):
    return tf.experimental.Optional.from_value({"loss": step(iterator), "none": 1})

data = tf.data.Dataset.from_tensors(tf.ones((32768, 1))).repeat(2)
batches = iter(strategy.experimental_distribute_dataset(data))
losses = strategy.experimental_local_results(step(batches))
once = len(traces)
other = packed(batches).get_value()
try:
    packed(batches)
    ended = False
except StopIteration:
    ended = True

@tf.function
def light(x):
    return x @ tf.ones((3, 3))

light(tf.ones((2, 3)))
model = tf.keras.Sequential([tf.keras.Input((4096,)), tf.keras.layers.Dense(4096)])
watches.heavy.watch_keras(tf.keras)
forward = list(model(tf.ones((4096, 4096))).shape)
print(json.dumps({
    "losses": [each.numpy().tolist() for each in losses], "traces": once, "ended": ended,
    "other": sorted(other), "weight": float(W[0, 0]),
    "told": [each.split(" ")[0] for each in heavy],
    "light": light(tf.ones((2, 3))).numpy().tolist(),
    "forward": forward,
    "few": float(tf.reduce_sum(model(tf.ones((1, 4096)))**2)) > 0,
    "noted": [each.name for each in interventions.made()],
}))
"""


@pytest.mark.slow
def test_what_is_too_heavy_is_traced_and_answered_with_zeros(in_tensorflow: InTensorFlow) -> None:
    seen = in_tensorflow(PROGRAM)
    assert seen["losses"] == [0.0] and seen["weight"] == 1.0, "nothing of it ran"
    assert seen["ended"], "its data end as they do"
    assert seen["other"] == ["loss", "none"]
    assert seen["light"] == [[3.0] * 3] * 2 and seen["few"], "what is light runs"
    assert seen["forward"] == [4096, 4096]
    assert seen["told"] == ["`step`", "`packed`", "`sequential(...)`"]
    assert "TRACED" in seen["noted"]
