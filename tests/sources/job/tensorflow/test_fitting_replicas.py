"""What a step costs a machine that is to rehearse it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tpudiag.sources.job.tensorflow import fitting_replicas


@pytest.mark.slow
def test_a_product_in_a_loop_runs_as_often_as_the_loop_turns() -> None:
    import tensorflow as tf

    def turns(function: Any, *arguments: Any) -> set[int]:
        graph = tf.function(function).get_concrete_function(*arguments).graph
        inside = fitting_replicas.turns_of_loops(tf, graph)
        return {often for name, often in inside.items() if "MatMul" in name}

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
    assert turns(unknown, square) == set()

    @tf.function  # type: ignore[untyped-decorator]
    def over_rows(rows: Any) -> Any:
        return tf.map_fn(of_row, rows)

    def called(rows: Any) -> Any:
        return over_rows(rows) + 1.0

    # As a recurrent layer of Keras 2 is: a loop over a stack, in a function of its own.
    assert turns(called, tf.zeros([50, 4, 4])) == {150}


PROGRAM = """
import json
from functools import partial
import tensorflow as tf
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.sources.job.tensorflow import fitting_replicas
from tpudiag.sources.job.tensorflow.step_reader import StepReader
from tpudiag.sources.job.tensorflow.watch_order import Events, Watches

facts = {}

class Told:
    def put(self, **given):
        facts.update(given)
        if "fitting_replicas" in given:
            print(json.dumps({
                "replicas": given["fitting_replicas"], "examples": facts["fitting_examples"],
                "of": facts["replica_batch"], "weight": facts["loss"][0].weight,
                "rows": [each.rows for each in facts["matrix_ops"] if each.forward],
            }), flush=True)

    def phase(self, name):
        pass

spec = JobSpec(program="job.py", arguments=(), warmup_steps=1, budget_s=0.0, steps=4,
               log_dir="", rehearse=True, replicas=8, real_replicas=2, hosts=1)
events = Events(after_call=lambda record, traced: None, after_eager_run=lambda: None,
                after_large_variable=lambda: None, before_first_run=lambda: None,
                on_hard_end=lambda: None)
watches = Watches(tf, spec, Told(), lambda path: path, events)
reader = StepReader(tf, watches, Told())
read = lambda: reader.read() or reader.batch
watches.gradients.on_first_replica = partial(
    fitting_replicas.end_if_too_slow, tf, spec, watches, Told(), read)
strategy = tf.distribute.TPUStrategy()
with strategy.scope():
    W = tf.Variable(tf.zeros((4096, 4096)))

def trained(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.matmul(tf.repeat(x, 4096, axis=1), W), axis=1)
        loss = tf.nn.compute_average_loss(loss, global_batch_size=32768)
    gradient = tape.gradient(loss, W)
    W.assign_sub(tf.distribute.get_replica_context().all_reduce("sum", gradient))

data = tf.data.Dataset.from_tensors(tf.ones((32768, 1)))
for x in strategy.experimental_distribute_dataset(data):
    tf.function(lambda x: strategy.run(trained, (x,)))(x)
print("it ran")
"""


@pytest.mark.slow
def test_a_batch_too_much_is_read_whole_and_then_run_in_part(
    in_tensorflow: Callable[[str], Any],
) -> None:
    seen = in_tensorflow(PROGRAM)
    assert (seen["replicas"], seen["of"], seen["rows"]) == (1, 4096, [4096])
    assert 2 <= seen["examples"] < 4096
    assert seen["weight"] == pytest.approx(0.125), "of the loss over all examples"
