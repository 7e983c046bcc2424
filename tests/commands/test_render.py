"""`tpudiag render`: a saved report in any other format, as it was."""

from pathlib import Path

import pytest

from tests import made
from tests.commands.called import called, refused
from tpudiag import report_json
from tpudiag.catalogue import renderer, renderer_names
from tpudiag.model import Evidence, Finding, Location, Subject, Verdict
from tpudiag.report_figures import Excerpt

FINDING = Finding("It waits.", "prefetch()", (Evidence("wait", 3.0, "ms"),), Location("t.py", 2))
REPORT = made.report(
    made.outcome("TPU201", Verdict.FAILED, FINDING),
    subject=Subject("job", "t.py"),
    series=(made.series("step_time", (2.0, 3.0)),),
    excerpts=(Excerpt("t.py", 1, ("a = 1", "for x in y:")),),
)
ENDINGS = {
    "json": "json",
    "html": "html",
    "md": "markdown",
    "sarif": "sarif",
    "xml": "junit",
    "txt": "text",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "report.json").write_text(report_json.dumps(REPORT), encoding="utf-8")
    (tmp_path / "t.py").write_text("the file\nhas changed\n", encoding="utf-8")
    return tmp_path


def test_a_report_is_written_in_every_format_as_it_was(folder: Path) -> None:
    files = [option for ending in ENDINGS for option in ("-o", f"made.{ending}")]
    done = called("render", "report.json", *files)
    assert (done.returncode, done.stdout) == (0, renderer("text")(REPORT))
    for ending, format_ in ENDINGS.items():
        text = (folder / f"made.{ending}").read_text(encoding="utf-8")
        assert text == renderer(format_)(REPORT)
    assert set(ENDINGS.values()) | {"rich"} == set(renderer_names())


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "cause"),
    [
        (["nowhere.json"], "nowhere.json: No such file"),
        (["t.py"], "t.py: not a JSON report"),
        (["report.json", "-o", "r.pdf"], "the ending chooses the format"),
        (["report.json", "--format", "pdf"], "--format pdf"),
    ],
)
def test_what_cannot_be_rendered_is_one_line(arguments: list[str], cause: str) -> None:
    assert cause in refused(called("render", *arguments))
