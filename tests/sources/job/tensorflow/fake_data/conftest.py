"""One test's program is its own file alone."""

import pytest

from tpudiag.sources.job.points import user_lines


@pytest.fixture(autouse=True)
def no_modules_of_the_user(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here the user's modules would be all tests: which were collected would size the stand-ins."""
    monkeypatch.setattr(user_lines, "user_files", tuple)
