"""Steps that the first call took, in a job that begins anew and in one that was resumed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from tpudiag.sources.job.tensorflow.keras import KerasWatch


class Counter:
    def __init__(self, value: int) -> None:
        self.value = value

    def numpy(self) -> int:
        return self.value


@pytest.mark.parametrize("restored", [0, 5000], ids=["anew", "resumed"])
def test_what_a_checkpoint_brought_is_no_step_of_the_first_call(restored: int) -> None:
    watch = KerasWatch(SimpleNamespace())
    iterations = Counter(restored)
    watch.optimizers.append(SimpleNamespace(iterations=iterations))
    watch.calling()  # a function that trains nothing
    watch.calling()
    iterations.value += 10
    assert watch.steps_of_first_call() == 10
    watch.calling()  # the second step is asked nothing
    iterations.value += 10
    assert watch.steps_of_first_call() == 20


def test_an_optimizer_that_the_first_call_makes_starts_at_none() -> None:
    watch = KerasWatch(SimpleNamespace())
    watch.calling()
    assert watch.steps_of_first_call() is None
    watch.optimizers.append(SimpleNamespace(iterations=Counter(1)))
    assert watch.steps_of_first_call() == 1
