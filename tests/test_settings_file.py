"""The [tool.tpudiag] section as users write it."""

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


def test_each_verb_takes_its_options_as_the_command_line_reads_them() -> None:
    text = b"""[tool.tpudiag]
pedantic = true
[tool.tpudiag.check]
steps = 20
[tool.tpudiag.watch]
interval_s = "5s"
price = "1,200"
log = ["job.log"]
once = true
"""
    made = section(FILE, text)
    assert made is not None and made["check"] == {"steps": 20}
    of_watch = {"interval_s": 5.0, "price": 1200.0, "log": [FILE.parent / "job.log"], "once": True}
    assert made["watch"] == of_watch


@pytest.mark.parametrize(
    "line",
    ["steps = 0", "steps = true", "step = 3", 'program = "train.py"', "pedantic = true",
     'isolation = "none at all"', "fail_on = 3"],
)  # fmt: skip
def test_what_a_verb_does_not_take_is_refused_with_its_name(line: str) -> None:
    name = line.partition(" ")[0]
    with pytest.raises(UsageError, match=rf"\[tool.tpudiag.check\]: {name}"):
        section(FILE, b"[tool.tpudiag.check]\n" + line.encode())
