"""The [tool.tpudiag] section as users write it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tpudiag.errors import UsageError
from tpudiag.settings_file import section

FILE = Path("/project/pyproject.toml")


def test_a_path_of_the_section_is_one_from_the_folder_of_the_file() -> None:
    made = section(FILE, b'[tool.tpudiag]\npython = "./venv/bin/python"\npedantic = true\n')
    assert made is not None
    assert (made["python"], made["pedantic"]) == ("/project/venv/bin/python", True)
    named = section(FILE, b'[tool]\ntpudiag = {python = "python3.11"}\n')
    assert named is not None and named["python"] == "python3.11"


def test_a_file_that_speaks_of_it_elsewhere_has_no_section() -> None:
    assert section(FILE, b'[project]\ndependencies = ["tpudiag"]\n') is None
    assert section(FILE, b'tool = "tpudiag"\n') is None


@pytest.mark.parametrize("text", [b"[tool.tpudiag", b"\xff", b"[tool.tpudiag]\nchecks = 1\n"])
def test_what_cannot_be_read_is_one_line_with_the_file(text: bytes) -> None:
    with pytest.raises(UsageError, match=str(FILE)):
        section(FILE, text)
