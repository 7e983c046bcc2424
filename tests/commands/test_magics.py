"""`%load_ext tpudiag` in a real IPython shell, and a report as a cell's output."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from html import unescape
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from tests import made, tiny_job
from tests.tiny_job import TRAINING, VARIABLE
from tpudiag.catalogue import notebook_cell
from tpudiag.commands.magics import Session
from tpudiag.model import Finding, Report, Severity, Verdict
from tpudiag.notebook_display import show_reports

STRATEGY = f"""\
import tensorflow as tf
if "rehearsal" not in globals():
    {tiny_job.STRATEGY}{VARIABLE}"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A shell of its own, in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    interactive: Any = import_module("IPython.core.interactiveshell").InteractiveShell
    interactive.clear_instance()
    shell = interactive.instance()
    yield shell
    interactive.clear_instance()


def run(shell: Any, source: str) -> Any:
    """What a cell comes to."""
    return shell.run_cell(source, store_history=True)


def a_report(**changes: Any) -> Report:
    finding = Finding("<b>traced</b> again & again", "pass a tensor")
    outcome = made.outcome(
        "TPU101", Verdict.FAILED, finding, name="retracing", severity=Severity.WARNING
    )
    return replace(made.report(outcome), **changes)


def test_a_report_is_a_frame_that_holds_all_it_needs() -> None:
    cell = notebook_cell(a_report(series=(made.series("step_time", (2.0,) * 9),)))
    assert cell.startswith("<iframe ") and cell.endswith("</iframe>")
    assert "TPU101" in cell and len(cell) < 100_000
    (document,) = re.findall(r'srcdoc="([^"]*)"', cell)
    page = unescape(document)
    assert page.startswith("<!doctype html>") and "&lt;b&gt;traced&lt;/b&gt;" in page
    assert not re.search(r"""(src|href)=["']https?:""", page)


def test_its_height_follows_what_there_is_to_read() -> None:
    def height(report: Report) -> int:
        (px,) = re.findall(r"height:(\d+)px", notebook_cell(report))
        return int(px)

    many = tuple(Finding(f"finding {number}", "mend it") for number in range(50))
    (outcome,) = a_report().outcomes
    long = made.outcome("TPU102", Verdict.FAILED, *many, name="x", severity=outcome.severity)
    assert height(a_report(outcomes=())) == 240 < height(a_report(outcomes=(long,))) == 640


def test_ipython_shows_a_report_in_both_forms(shell: Any) -> None:
    show_reports(shell)
    shell.user_ns["report"] = a_report()
    data, _ = shell.display_formatter.format(shell.user_ns["report"])
    assert set(data) == {"text/plain", "text/html"}
    assert "warning TPU101 retracing" in data["text/plain"]


def test_a_session_is_its_cells_that_ran_once_each(shell: Any) -> None:
    assert run(shell, "a = 1").success
    assert run(shell, "%load_ext tpudiag").success
    run(shell, "a / 0")
    run(shell, "b = 2")
    run(shell, "b = 2")
    run(shell, "%%tpudiag_check train.py\nc = 3")
    session = Session(shell)
    assert session.with_cell("--steps 4", "d = 4\n")[0] == "a = 1"
    kept: list[Session] = [
        callback.__self__
        for callback in shell.events.callbacks["post_run_cell"]
        if isinstance(getattr(callback, "__self__", None), Session)
    ]
    assert kept[0].with_cell("--steps 4", "d = 4\n") == [
        "a = 1",
        "%load_ext tpudiag",
        "",
        "b = 2",
        "",
        "%%tpudiag_check --steps 4\nd = 4\n",
    ]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("%%tpudiag_check train.py\npass", "the cells are what is checked"),
        ("%%tpudiag_check --nonsense\npass", "see `!tpudiag check --help`"),
        ("%%tpudiag_check --for v9-8\npass", "v9"),
        ("%tpudiag_read nowhere", "nowhere: does not exist"),
        ("%tpudiag_read", "see `!tpudiag read --help`"),
    ],
)
def test_what_a_user_can_cause_is_one_line(
    shell: Any, source: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run(shell, "%load_ext tpudiag")
    assert not run(shell, source).success
    err = capsys.readouterr().err.splitlines()
    assert [line for line in err if line.startswith("UsageError: ")] == err[-1:]
    assert said in err[-1]


@pytest.mark.slow
def test_a_cell_is_rehearsed_after_those_before_it(shell: Any, tmp_path: Path) -> None:
    """The cells before ran without a TPU; the last one runs in the rehearsal alone."""
    run(shell, "%load_ext tpudiag")
    shell.user_ns["rehearsal"] = False
    stand_in: Callable[..., Any] = import_module("contextlib").nullcontext
    shell.user_ns["strategy"] = type("Strategy", (), {"scope": staticmethod(stand_in)})()
    assert run(shell, STRATEGY).success
    result = run(
        shell,
        "%%tpudiag_check --steps 4 --first-loop --no-compile --measure-input 0 "
        "--select TPU1 -o r.html\n" + TRAINING,
    )
    report = result.result
    assert isinstance(report, Report), report
    assert report.subject.name == "notebook"
    (outcome,) = [o for o in report.outcomes if o.id == "TPU102"]
    place = outcome.findings[0].location
    assert place is not None and (place.cell, place.line) == (3, 2)
    (excerpt, *_) = report.excerpts
    assert any(".batch(8)" in line for line in excerpt.lines)
    assert "step" not in shell.user_ns, "the cell ran in the session"
    assert (tmp_path / "r.html").is_file()
