"""What of the values that a job asks for is a result of its step."""

from types import SimpleNamespace
from typing import Any

import pytest

from tpudiag.sources.job.jax.fetches import FetchWatch

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(("made", "of_step"), [("float32", True), ("int32", False)])
def test_a_loss_waits_for_the_step_and_an_action_is_needed(
    jax: Any, made: str, *, of_step: bool
) -> None:
    result = jax.numpy.ones(3)
    watch = FetchWatch(lambda: 1)
    watch.watch(jax)
    watch.stepped({id(result): result}, look_at_all=True)
    float(jax.numpy.sum(result).astype(made))
    assert bool(watch.facts()) is of_step


def test_shared_results_that_are_fetched_whole_are_told_with_how_often() -> None:
    shared, calls = SimpleNamespace(is_fully_replicated=False, nbytes=2**21), iter(range(9))
    watch = FetchWatch(lambda: 1, lambda: next(calls))
    for _ in range(2):
        watch.stepped({id(shared): shared}, look_at_all=False)
        watch._asked(id, shared, one=True)  # pyright: ignore[reportPrivateUsage]
    (found,) = watch.gathered()
    assert (found.bytes, found.times, found.by_all) == (2**21, 2, False)


LIBRARY = """
def read(array):
    return float(array)
def fit(watch, array):
    watch.stepped({id(array): array}, look_at_all=False)
    return read(array)
"""


def test_what_a_library_reads_is_of_the_line_that_asks_it_unless_that_trains(jax: Any) -> None:
    library: dict[str, Any] = {}
    exec(compile(LIBRARY, "/env/lib/python3.11/site-packages/trainer/loop.py", "exec"), library)
    watch, array = FetchWatch(lambda: 1), jax.numpy.ones(())
    watch.watch(jax)
    library["fit"](watch, array)
    assert not watch.facts(), "the line that trains: what its library reads is no matter of it"
    library["read"](array)
    assert watch.facts()
