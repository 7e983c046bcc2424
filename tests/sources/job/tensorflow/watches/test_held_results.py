"""Which results of training steps a job holds."""

from collections.abc import Iterable

import pytest

from tpudiag.sources.job.tensorflow.watches.held_results import HeldResults


class Result:
    """What a weak reference may be made of."""


@pytest.mark.parametrize(
    ("keeps", "size_bytes", "found"),
    [
        (range(6), 8192, (4, 4, 8192)),
        (range(1, 6), 8192, (3, 4, 8192)),
        (range(2, 6), 8192, None),
        ((), 8192, None),
        (range(6), 8, None),
    ],
)
def test_what_is_alive_of_nearly_each_step(
    keeps: Iterable[int], size_bytes: int, found: tuple[int, int, int] | None
) -> None:
    held, kept = HeldResults(), list[Result]()
    for step in range(6):
        result = Result()
        held.gave([(result, size_bytes)])
        if step in keeps:
            kept.append(result)
    facts = held.facts()
    assert (facts and (facts.steps, facts.of_steps, facts.bytes)) == found
