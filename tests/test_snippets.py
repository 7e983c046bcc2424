"""The lines around findings: taken once, from Python files alone."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import made
from tpudiag import snippets
from tpudiag.model import Finding, Location, Report, Subject, Verdict
from tpudiag.report_figures import Excerpt


def report(*places: Location | None) -> Report:
    findings = tuple(Finding("m", "f", location=place) for place in places)
    outcome = made.outcome("TPU1", Verdict.FAILED, *findings, name="n")
    return made.report(outcome, subject=Subject("job", "j"))


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "train.py"
    file.write_text("".join(f"line {number}\n" for number in range(1, 21)), encoding="utf-8")
    return str(file)


def test_lines_around_each_place_once(script: str) -> None:
    places = (Location(script, 10), Location(script, 1), Location(script, 10), None)
    first, second = snippets.added(report(*places)).excerpts
    assert (first.first_line, first.lines[0], first.lines[-1]) == (7, "line 7", "line 13")
    assert (second.first_line, second.lines) == (1, ("line 1", "line 2", "line 3", "line 4"))


@pytest.mark.parametrize("line", [None, 0, -3, 21, 10**9])
def test_a_line_that_is_not_there_gives_nothing(script: str, line: int | None) -> None:
    assert snippets.added(report(Location(script, line))).excerpts == ()


def test_what_a_report_has_is_kept(script: str) -> None:
    saved = replace(report(Location(script, 3)), excerpts=(Excerpt("x.py", 1, ("old",)),))
    assert snippets.added(saved) is saved


def test_no_other_file_of_this_machine_is_read(tmp_path: Path) -> None:
    """A profile of unknown origin may name any file."""
    secret = tmp_path / "id_rsa"
    secret.write_text("secret\n", encoding="utf-8")
    (tmp_path / "dir.py").mkdir()
    files = (secret, "/etc/passwd", tmp_path, tmp_path / "dir.py", "nowhere.py")
    places = [Location(str(file), 1) for file in files]
    assert snippets.added(report(*places)).excerpts == ()


def test_odd_bytes_and_endless_lines_do_no_harm(tmp_path: Path) -> None:
    file = tmp_path / "odd.py"
    file.write_bytes(b"\xff\xfe = 1\n" + b"y" * 10_000)
    (found,) = snippets.added(report(Location(str(file), 2))).excerpts
    assert found.lines[0].endswith(" = 1")
    assert len(found.lines[1]) == snippets.LONGEST_LINE
