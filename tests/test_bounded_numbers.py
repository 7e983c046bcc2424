"""Whole numbers in texts of others."""

import pytest

from tpudiag.bounded_numbers import whole


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("7", 7), ("007", 7), (str(2**63 - 1), 2**63 - 1), ("9" * 5000, None),
        ("²", None), ("٣", None), ("-1", None), ("1.0", None), ("", None), (" 1", None),
    ],
)  # fmt: skip
def test_what_is_a_whole_number(text: str, number: int | None) -> None:
    assert whole(text) == number
