import numpy as np

from tpudiag.sources.profile.edge_steps import Steps, complete


def steps(*lengths: int) -> Steps:
    ends = np.cumsum(np.array(lengths, np.int64))
    return Steps(np.arange(len(lengths), dtype=np.int64), ends - np.array(lengths), ends)


def ops(found: Steps, every: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    spans = zip(found.starts.tolist(), found.ends.tolist(), strict=True)
    return np.array([at for start, end in spans for at in range(start, end, every)], np.int64)


def test_a_last_step_that_the_trace_cut_is_no_step() -> None:
    marked = steps(100, 101, 99, 100, 30)
    assert complete(marked, ops(marked, 5)).numbers.tolist() == [0, 1, 2, 3]
    assert complete(marked, np.empty(0, np.int64)).numbers.tolist() == [0, 1, 2, 3]


def test_a_first_step_that_lacks_a_fifth_of_its_operations_is_cut() -> None:
    marked = steps(80, 100, 100, 100, 100)
    assert complete(marked, ops(marked, 5)).numbers.tolist() == [1, 2, 3, 4]


def test_a_short_step_with_all_of_its_operations_is_whole() -> None:
    marked = steps(80, 100, 100, 100, 100)
    begun = [start + 2 * n for start in marked.starts.tolist() for n in range(20)]
    assert complete(marked, np.array(begun, np.int64)) is not None
    assert len(complete(marked, np.array(begun, np.int64)).starts) == 5


def test_of_three_steps_nothing_tells_what_is_whole() -> None:
    assert len(complete(steps(100, 100, 10), np.empty(0, np.int64)).starts) == 3
