"""What a step costs a machine that is to rehearse it."""

from __future__ import annotations

from typing import Any

import pytest

from tpudiag.sources.job.tensorflow import fitting_replicas


@pytest.mark.slow
@pytest.mark.parametrize(("most", "turns"), [(1200, 1200), (None, 1)])
def test_a_product_in_a_loop_runs_as_often_as_the_loop_turns(most: int | None, turns: int) -> None:
    import tensorflow as tf

    def recurrence(state: Any) -> Any:
        def goes_on(turn: Any, _: Any) -> Any:
            return turn < 5

        def step(turn: Any, state: Any) -> Any:
            return turn + 1, tf.matmul(state, state)

        return tf.while_loop(goes_on, step, (0, state), maximum_iterations=most)[1]

    function: Any = tf.function(recurrence)
    graph = function.get_concrete_function(tf.zeros([4, 4])).graph
    inside = fitting_replicas.turns_of_loops(tf, graph)
    assert {turn for name, turn in inside.items() if "MatMul" in name} == {turns}
