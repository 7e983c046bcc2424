import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tpudiag.sources.profile.intervals import EMPTY, Spans, covered, merged, self_times, union

PAIRS = st.lists(
    st.tuples(st.integers(0, 40), st.integers(0, 12)).map(lambda p: (p[0], p[0] + p[1])),
    max_size=12,
)


def vectors(pairs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    columns = np.array(pairs, np.int64).reshape(-1, 2)
    return columns[:, 0].copy(), columns[:, 1].copy()


def made(pairs: list[tuple[int, int]]) -> Spans:
    return union(*vectors(pairs))


def moments(spans: Spans) -> set[int]:
    return {t for a, b in zip(*(c.tolist() for c in spans), strict=True) for t in range(a, b)}


def slow(pairs: list[tuple[int, int]]) -> set[int]:
    return {t for a, b in pairs for t in range(a, b)}


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_sets_of_time_are_sets(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    a, b = made(left), made(right)
    assert moments(a) == slow(left)
    assert moments(a & b) == slow(left) & slow(right)
    assert moments(a - b) == slow(left) - slow(right)
    assert moments(merged(a, b)) == slow(left) | slow(right)
    assert a.total == len(slow(left))


@settings(deadline=None)
@given(PAIRS, PAIRS)
def test_coverage_of_windows(spans: list[tuple[int, int]], windows: list[tuple[int, int]]) -> None:
    expected = [len(slow(spans) & set(range(a, b))) for a, b in windows]
    assert covered(made(spans), *vectors(windows)).tolist() == expected


@settings(deadline=None)
@given(PAIRS)
def test_each_moment_belongs_to_the_innermost_event(pairs: list[tuple[int, int]]) -> None:
    order = sorted(range(len(pairs)), key=lambda i: (pairs[i][0], -pairs[i][1], i))
    owns = [0] * len(pairs)
    clipped = dict[int, int]()
    open_: list[int] = []
    for i in order:
        start, end = pairs[i]
        if end == start:
            continue
        while open_ and clipped[open_[-1]] <= start:
            open_.pop()
        clipped[i] = min([end, *(clipped[o] for o in open_)])
        open_.append(i)
    for t in range(60):
        inside = [i for i in order if i in clipped and pairs[i][0] <= t < clipped[i]]
        if inside:
            owns[inside[-1]] += 1
    assert self_times(*vectors(pairs)).tolist() == owns


def test_nothing_is_empty() -> None:
    assert not union(*vectors([]))
    assert not EMPTY & made([(0, 5)])
    assert covered(EMPTY, *vectors([(0, 5)])).tolist() == [0]
