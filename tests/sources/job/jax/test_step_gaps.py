"""What counts as the host's time between two steps."""

from tpudiag.model import Location
from tpudiag.sources.job.jax.step_gaps import StepGaps

LOOP, OTHER = Location("train.py", 9), Location("train.py", 30)


def test_what_lies_before_another_line_is_no_loops() -> None:
    gaps = StepGaps()
    for began, at, compiled in (
        (0.0, LOOP, True),
        (1.0, LOOP, False),
        (2.0, LOOP, True),
        (3.0, OTHER, False),
        (4.0, OTHER, False),
        (5.0, LOOP, False),
    ):
        gaps.stepped(began, began + 0.5, at, compiled)
        gaps.over(began + 0.75)
    assert gaps.pairs_ms == [(250.0, 500.0)] * 3


def test_a_look_of_ours_is_not_the_hosts_time() -> None:
    gaps = StepGaps()
    gaps.stepped(0.0, 0.5, LOOP, True)
    gaps.over(0.5)
    gaps.looked(0.25)
    gaps.stepped(1.0, 1.5, LOOP, False)
    assert gaps.pairs_ms == [(250.0, 500.0)]
