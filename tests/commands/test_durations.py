"""Times on the command line."""

import argparse

import pytest

from tpudiag.options.kinds import duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10", 10), ("10s", 10), ("1.5m", 90), ("500ms", 0.5), ("2 min", 120), ("1H", 3600)],
)
def test_all_units_are_seconds(text: str, seconds: float) -> None:
    assert duration()(text) == seconds


@pytest.mark.parametrize("text", ["", "ten", "-1", "1d", "nan", "inf", "0", "1e3"])
def test_what_is_no_time_above_zero_is_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"not a time such as|must be above 0"):
        duration()(text)


def test_zero_may_mean_never() -> None:
    assert duration(zero=True)("0") == 0


def test_bounds_are_said() -> None:
    with pytest.raises(argparse.ArgumentTypeError, match=r"5s: .*must be at least 10 s"):
        duration(10)("5s")
    with pytest.raises(argparse.ArgumentTypeError, match="1m: at most 30 s, for a reason"):
        duration(most_s=30, why=", for a reason")("1m")
