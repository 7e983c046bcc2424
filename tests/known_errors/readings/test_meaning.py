"""Words around a match."""

import re

import pytest

from tpudiag.known_errors.readings.meaning import first_over

FORM = re.compile(r"\[\d+\]")


@pytest.mark.parametrize(
    ("begin", "end", "found"), [(0, 3, "[1]"), (2, 5, "[1]"), (3, 5, None), (4, 9, "[2]")]
)
def test_only_what_shares_text_counts(begin: int, end: int, found: str | None) -> None:
    match = first_over(FORM, "[1]  [2]", begin, end)
    assert (match[0] if match else None) == found
