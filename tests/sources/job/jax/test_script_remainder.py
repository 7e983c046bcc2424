"""Which calls are answered with a function's last result."""

from types import SimpleNamespace
from typing import Any

import numpy as np

from tpudiag.sources.job.jax.jitted import Record
from tpudiag.sources.job.jax.script_remainder import FEWEST_CALLS, LONG_S, RestOfScript

BATCH: tuple[Any, Any] = (np.ones((8, 3)),), {}
SMALLER: tuple[Any, Any] = (np.ones((4, 3)),), {}


def rest_of_script() -> RestOfScript:
    """Of a script that did nothing yet."""
    rest = RestOfScript(60, lambda: None)
    rest.leaves = lambda tree: [*tree[0]] if isinstance(tree, tuple) and tree[1:] else [tree]
    return rest


def evaluated(rest: RestOfScript, record: Record, times: int, each_s: float) -> Any:
    """Calls of one that does not train, and what it gave."""
    result = SimpleNamespace(is_deleted=lambda: False)
    for _ in range(times):
        record.calls += 1
        rest.ran(record, BATCH, result, each_s)
    return result


def test_an_evaluation_before_the_first_step_is_cut_short() -> None:
    rest, record = rest_of_script(), Record("evaluate", None)
    result = evaluated(rest, record, FEWEST_CALLS, 0.9 * LONG_S / FEWEST_CALLS)
    assert rest.answer(record, *BATCH) is None, "it was quick"
    result = evaluated(rest, record, 1, LONG_S)
    assert rest.answer(record, *BATCH) == (result,)
    assert rest.answer(record, *SMALLER) is None, "of another size"
    (seen,) = rest.coverage("whole", None, [record, Record("other", None, calls=3)]).functions
    assert (seen.ran, seen.forwarded) == (FEWEST_CALLS + 1, 1)
    result.is_deleted = lambda: True
    assert rest.answer(record, *BATCH) is None


def test_a_few_long_calls_and_steps_before_they_are_observed_run() -> None:
    rest, record = rest_of_script(), Record("sample", None)
    evaluated(rest, record, FEWEST_CALLS - 1, LONG_S)
    assert rest.answer(record, *BATCH) is None
    step = Record("train_step", None, trains=True)
    evaluated(rest, step, FEWEST_CALLS, LONG_S)
    assert rest.answer(step, *BATCH) is None


def test_training_that_begins_anew_among_the_answers() -> None:
    rest, step = rest_of_script(), Record("train_step", None, trains=True)
    rest.deadline.start()
    result = SimpleNamespace(is_deleted=lambda: False, shape=(8, 3), dtype="float64")
    rest.ran(step, BATCH, result, 0.0)
    carried: tuple[Any, Any] = (result,), {}
    for given in (carried, BATCH, carried):
        assert rest.answer(step, *given) == (result,)
    rest.deadline.cancel()
    assert (step.forwarded, step.starts) == (3, 1)
