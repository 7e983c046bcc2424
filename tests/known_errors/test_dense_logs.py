"""A log that is full of errors is searched as fast as one that is not."""

from io import BytesIO

import pytest

from tpudiag.known_errors.answers import rows
from tpudiag.known_errors.model import MOST_COUNTED
from tpudiag.known_errors.search import BLOCK, scan


@pytest.mark.slow
def test_what_a_log_says_a_million_times_is_counted_up_to_a_limit() -> None:
    error = "ValueError: Please provide a TPU Name to connect to.\n"
    again = "all is well\n" * (BLOCK // 8)
    found = scan(BytesIO((error * MOST_COUNTED + again + error * 5).encode()))[0]
    assert found.count == MOST_COUNTED
    assert "10,000 times or more" in next(rows(found))
