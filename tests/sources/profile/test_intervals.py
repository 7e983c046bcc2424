from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tpudiag.sources.profile.intervals import (
    Intervals,
    clipped,
    self_times,
    total,
    union,
    without,
)

pairs = st.lists(
    st.tuples(st.integers(0, 60), st.integers(0, 20)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=12,
)


def points(intervals: Intervals) -> set[int]:
    return {p for start, end in intervals for p in range(start, end)}


@given(pairs, pairs, st.integers(0, 60), st.integers(0, 60))
def test_agrees_with_sets_of_points(
    left: list[tuple[int, int]], right: list[tuple[int, int]], a: int, b: int
) -> None:
    one, two = union(left), union(right)
    assert points(one) == points(tuple(left))
    assert total(one) == len(points(one))
    assert points(without(one, two)) == points(one) - points(two)
    assert points(clipped(one, a, b)) == points(one) & set(range(a, b))


def test_self_time_leaves_out_what_is_nested() -> None:
    spans = [(0, 100), (10, 40), (20, 30), (50, 60), (200, 210)]
    assert [own for _, own in self_times(spans)] == [60, 20, 10, 10, 10]


@given(pairs)
def test_self_times_add_up_to_the_union(spans: list[tuple[int, int]]) -> None:
    nested = [span for span in spans if all(not _crosses(span, other) for other in spans)]
    assert sum(own for _, own in self_times(nested)) == total(union(nested))


def _crosses(one: tuple[int, int], two: tuple[int, int]) -> bool:
    return one[0] < two[0] < one[1] < two[1] or two[0] < one[0] < two[1] < one[1]
