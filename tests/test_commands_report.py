"""What every verb that ends in a report shares: files, formats and exit codes."""

import argparse
import io
import json
import os
import stat
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import made
from tpudiag.bounded_files import write_whole
from tpudiag.commands import _report as shared
from tpudiag.commands._parser import add_options
from tpudiag.errors import FailOn, UsageError
from tpudiag.model import Evidence, Finding, Report, Severity, Subject, Verdict
from tpudiag.source_change import Mending


def options(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_options(parser, "read", without=("path",))
    return parser.parse_args(arguments)


def report(worst: Severity | None = None) -> Report:
    passed = made.outcome("TPU101", Verdict.PASSED, name="retracing", evidence=(Evidence("é", 1),))
    outcomes = [passed]
    if worst is not None:
        found = (Finding("m", "f"),)
        outcomes.append(made.outcome("TPU201", Verdict.FAILED, *found, severity=worst))
    return made.report(*outcomes)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("worst", "fail_on", "code"),
    [
        (None, "error", 0),
        (None, "warning", 0),
        (Severity.INFO, "warning", 0),
        (Severity.WARNING, "error", 0),
        (Severity.WARNING, "warning", 1),
        (Severity.ERROR, "warning", 1),
        (Severity.ERROR, "error", 1),
        (Severity.ERROR, "never", 0),
    ],
)
def test_the_exit_code_follows_fail_on(worst: Severity | None, fail_on: FailOn, code: int) -> None:
    assert report(worst).exit_code(fail_on) == code


@pytest.mark.parametrize(
    ("facts", "worst", "code"),
    [
        ({"shortfall": "whole"}, None, 2),  # check: the job crashed, and nothing failed
        ({"shortfall": "whole"}, Severity.ERROR, 1),
        ({"shortfall": "part"}, None, 1),  # read: a host is missing
        ({"shortfall": "part"}, Severity.ERROR, 1),
        ({"regressed": True}, None, 1),
        ({"regressed": True, "shortfall": "whole"}, None, 2),
        ({"interrupted": True, "shortfall": "whole"}, Severity.ERROR, 130),
        ({"mending": Mending(rehearsals=3, left=0)}, Severity.ERROR, 0),  # fix: nothing is left
        ({"mending": Mending(rehearsals=3, left=2)}, None, 1),
    ],
)
def test_what_a_report_lacks_decides_where_nothing_failed(
    facts: dict[str, Any], worst: Severity | None, code: int
) -> None:
    assert replace(report(worst), **facts).exit_code("error") == code


def test_only_a_failed_check_counts() -> None:
    skipped = made.outcome("TPU201", Verdict.SKIPPED, name="n", reason="why")
    broken = made.outcome("TPU202", Verdict.BROKEN, name="n", reason="why")
    both = made.report(skipped, broken, subject=Subject("job", "j"))
    assert both.exit_code("warning") == 0


def test_each_file_is_in_the_format_of_its_ending(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = options("-o", "r.json", "-o", "r.MD", "-o", "r.txt", "--fail-on", "never")
    shared.check_outputs(asked)
    assert shared.emit(report(Severity.ERROR), asked) == 0
    assert json.loads((folder / "r.json").read_text(encoding="utf-8"))["schema_version"] == 1
    assert (folder / "r.MD").read_text(encoding="utf-8").startswith("## ")
    assert (folder / "r.txt").read_text(encoding="utf-8") == capsys.readouterr().out


def test_stdout_is_plain_text_where_it_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    assert shared.emit(report(Severity.ERROR), options()) == 1
    said = capsys.readouterr()
    assert "error TPU201 input-bound" in said.out
    assert "\x1b" not in said.out
    assert said.err == ""


def test_stdout_carries_the_report_alone(capsys: pytest.CaptureFixture[str]) -> None:
    shared.emit(report(), options("--format", "json"))
    assert json.loads(capsys.readouterr().out)["summary"]["passed"] == 1


@pytest.mark.parametrize(
    ("format_", "said"), [("text", b"\\xe9 1"), ("json", '"name": "é"'.encode())]
)
def test_a_terminal_that_lacks_a_character_breaks_nothing(
    monkeypatch: pytest.MonkeyPatch, format_: str, said: bytes
) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    shared.emit(report(), options("--format", format_, "-v"))
    sys.stdout.flush()
    assert said in raw.getvalue()


@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (("--format", "pdf"), "pdf: not one of html, json"),
        (("-o", "report"), "the ending chooses the format"),
        (("-o", "r.pdf"), "the ending chooses the format"),
        (("-o", "nowhere/r.json"), "folder nowhere does not exist"),
        (("-o", "folder.json"), "is a folder"),
    ],
)
def test_what_cannot_be_written_is_refused_at_once(
    folder: Path, arguments: tuple[str, ...], cause: str
) -> None:
    (folder / "folder.json").mkdir()
    with pytest.raises(UsageError, match=cause):
        shared.check_outputs(options(*arguments))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_an_unwritable_folder_is_refused_at_once(folder: Path) -> None:
    folder.chmod(0o500)
    with pytest.raises(UsageError, match="not writable"):
        shared.check_outputs(options("-o", "r.json"))


def test_a_file_that_fails_costs_no_other_report(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = "x" * 300 + ".json"
    with pytest.raises(UsageError, match="File name too long"):
        shared.emit(report(), options("-o", bad, "-o", "good.json"))
    assert [file.name for file in folder.iterdir()] == ["good.json"]
    assert "1 passed" in capsys.readouterr().out


def test_a_name_as_long_as_names_may_be_is_written(folder: Path) -> None:
    file = folder / ("x" * 250 + ".json")
    write_whole(file, b"{}")
    assert file.read_text(encoding="utf-8") == "{}"


def test_a_failed_write_leaves_the_old_report_whole(folder: Path) -> None:
    file = folder / "r.json"
    file.write_text("old", encoding="utf-8")
    no_bytes: Any = "new"
    with pytest.raises(TypeError):
        write_whole(file, no_bytes)
    assert file.read_text(encoding="utf-8") == "old"
    assert list(folder.iterdir()) == [file]


def test_a_report_is_readable_as_any_new_file(folder: Path) -> None:
    (folder / "plain").touch()
    write_whole(folder / "r.json", b"{}")
    modes = {stat.S_IMODE(file.stat().st_mode) for file in folder.iterdir()}
    assert len(modes) == 1


def test_ids_are_split_and_checked(folder: Path) -> None:
    asked = options("--select", "tpu1,TPU605", "--select", "TPU2", "--ignore", "TPU101")
    settings = shared.settings_for(asked)
    assert settings.select == ("TPU1", "TPU605", "TPU2")
    assert settings.ignore == ("TPU101",)
    with pytest.raises(UsageError, match="TPU999: no check"):
        shared.settings_for(options("--select", "TPU999"))
    for id_, cause in (("TPU2", "limits are set for one check"), ("TPU001", "has no limit")):
        (folder / "pyproject.toml").write_text(f"[tool.tpudiag.limits]\n{id_} = 1\n")
        with pytest.raises(UsageError, match=f"{id_}: .*{cause}"):
            shared.settings_for(options())
