"""The step's state: what goes from one call to the next, whatever lies between."""

from dataclasses import replace
from typing import Any, cast

import pytest

from tpudiag.sources.job.jax.jitted import Jitted, Record
from tpudiag.sources.job.jax.kept_step import KeptStep
from tpudiag.sources.job.jax.step import TracedStep

pytestmark = pytest.mark.slow


def test_state_that_an_evaluation_gives_back_and_what_is_changed_in_place(jax: Any) -> None:
    ones, step = jax.numpy.ones, KeptStep()
    step.jax = jax
    jitted = Jitted(doubled, doubled, cast("Any", None), Record("train_step", None))
    weights, examples = ones((3, 1)), ones((8, 3))
    step.ran(jitted, (weights, examples), {}, True)
    step.gave(jitted.record, [weights])
    given_back, predictions = weights.copy(), ones((8, 1))
    step.ran_beside((weights, examples), {}, (given_back, predictions))
    step.ran(jitted, (given_back, predictions), {}, False)
    assert step.step is not None
    assert step.step.state == frozenset(("[0][0]",)), "what was computed of it is no state"
    kept = step.as_called(jitted, (jax.new_ref(weights), examples), {})
    assert list(map(type, kept.arguments[0])) == [jax.Ref, jax.ShapeDtypeStruct]
    assert not jitted.record.twice
    step.ran(jitted, ({"slow": weights, "fast": weights}, examples), {}, False)
    assert jitted.record.twice == {"[0][0]['fast']", "[0][0]['slow']"}


def called(jax: Any, kept: KeptStep, function: Any, calls: list[list[Any]]) -> None:
    """Some calls of a function that takes gradients."""
    kept.jax = jax
    record = Record("function", None, calls=len(calls))
    jitted = Jitted(jax.jit(function), function, cast("Any", None), record)
    for arguments in calls:
        kept.ran(jitted, tuple(arguments), {}, False)
        kept.gave(record, jax.tree_util.tree_leaves(function(*arguments)))


def doubled(weights: Any, *_: Any) -> Any:
    """Trains, whatever of."""
    return weights * 2


@pytest.mark.parametrize(
    ("changes", "stays", "batch"),
    [
        ([(8, 3), (8,)], [(3, 3), (3,)], 8),
        ([(8,)], [(90, 3), (90,)], 8),
        ([(8, 4), (8,), (4, 4)], [], 8),
        ([(9, 3), (20,), (20,), (2,), (2,), (2,)], [], None),
        ([], [(8, 3)], 8),
    ],
    ids=["examples", "their places", "with a mask", "one padded graph", "always the same"],
)
def test_the_batch_is_what_changes_together(
    jax: Any, changes: list[Any], stays: list[Any], batch: int | None
) -> None:
    ones, kept = jax.numpy.ones, KeptStep()
    same = [ones(shape) for shape in stays]
    given = [[ones(shape) for shape in ((3,), *changes)] + same for _ in range(2)]
    called(jax, kept, doubled, given)
    assert kept.step is not None
    kept.step.state = frozenset(("[0][0]",))
    found = TracedStep(jax, kept.step).batch()
    assert (found and found.global_batch) == batch


def test_parameters_beside_sums_of_their_gradients_are_no_batch(jax: Any) -> None:
    params, sums = ({name: jax.numpy.ones((90, 3)) for name in "ab"} for _ in range(2))

    def summed(_: Any, __: Any, sums: Any) -> Any:
        return sums

    called(jax, kept := KeptStep(), summed, [[params, jax.numpy.ones(8), sums]] * 2)
    assert kept.step is not None
    batch = TracedStep(jax, kept.step).batch()
    assert batch is not None and batch.global_batch == 8


def test_before_a_second_call_examples_are_what_the_devices_share(jax: Any) -> None:
    frozen = [jax.numpy.ones((90, at)) for at in (3, 4, 5)]
    called(jax, kept := KeptStep(), doubled, [[jax.numpy.ones(3), *frozen, jax.numpy.ones((8, 3))]])
    assert kept.step is not None
    step = TracedStep(jax, kept.step)
    images = list(step.by_path)[-1]
    step.by_path[images] = replace(step.by_path[images], parts=4, example_parts=4)
    batch = step.batch()
    assert batch is not None and (batch.global_batch, batch.per_replica_batch) == (8, 2)


def test_gradients_for_a_plot_are_no_step(jax: Any) -> None:
    kept, weights = KeptStep(), jax.numpy.ones(3)
    called(jax, kept, jax.numpy.asarray, [[weights], [weights]])
    called(jax, kept, jax.numpy.square, [[weights], [weights]])
    assert kept.step is not None
    assert kept.step.fed
