"""tpudiag as a library: cheap to import, and the same reports as the verbs'."""

from pathlib import Path

import pytest

import tpudiag
from tests import made
from tests.sources.job.programs import printed
from tests.tiny_job import SCRIPT
from tpudiag import report_json
from tpudiag.errors import UnreadableInput, UsageError
from tpudiag.model import Subject, Verdict
from tpudiag.report_figures import Measurement

pytestmark = pytest.mark.slow


def test_importing_it_costs_nothing() -> None:
    code = (
        "import sys, tpudiag; from tpudiag import check, read, load, render; "
        "print(*{'tensorflow', 'numpy', 'rich', 'jinja2', 'plotly', 'xprof'} & set(sys.modules))"
    )
    assert printed(code).strip() == ""


def test_a_script_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, encoding="utf-8")
    report = tpudiag.check("train.py", target="v5e-8", steps=4, select=["TPU1"])
    assert report.target is not None and report.target.name == "v5e-8"
    failed = {o.id: o for o in report.outcomes if o.verdict is Verdict.FAILED}
    (finding,) = failed["TPU102"].findings
    assert finding.location is not None and finding.location.line == 6
    file = finding.location.file
    shown = [e for e in report.excerpts if e.file == file and e.first_line <= 6]
    assert any(".map(lambda" in "\n".join(excerpt.lines) for excerpt in shown)
    assert all(outcome.id.startswith("TPU1") for outcome in report.outcomes)
    assert [series.kind for series in report.series][:1] == ["step_time"]
    assert report.next_command is None, "the profile went with the call"
    assert [file.name for file in tmp_path.iterdir()] == ["train.py"]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"program": "nowhere.py"}, UnreadableInput),
        ({"program": "train.py", "select": ["TPU999"]}, UsageError),
        ({"program": "train.py", "target": "v9-8"}, UsageError),
    ],
)
def test_what_cannot_be_checked_raises(
    arguments: dict[str, str],
    error: type[Exception],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text(SCRIPT, encoding="utf-8")
    with pytest.raises(error):
        tpudiag.check(**arguments)  # type: ignore[arg-type]  # pyright: ignore


def test_a_saved_report_is_loaded_and_rendered(tmp_path: Path) -> None:
    report = made.report(subject=Subject("job", "j"))
    file = tmp_path / "r.json"
    file.write_text(report_json.dumps(report), encoding="utf-8")
    assert tpudiag.load(file) == report
    assert tpudiag.render(report, "html").startswith("<!doctype html>")
    with pytest.raises(UsageError, match="pdf: not one of html, json"):
        tpudiag.render(report, "pdf")
    with pytest.raises(UnreadableInput):
        tpudiag.read(tmp_path / "nowhere")


def test_names_of_the_library_are_no_rooms_of_the_house() -> None:
    """A package below tpudiag of the same name would take the function's place once imported."""
    folder = Path(tpudiag.__file__).parent
    assert [name for name in tpudiag.__all__ if (folder / name).is_dir()] == []


def test_reports_at_hand_are_compared() -> None:
    sides = [
        made.report(
            subject=Subject("profile", name),
            measurements={"step_time_ms": Measurement(value, "ms", "profile")},
        )
        for name, value in (("old", 10.0), ("new", 12.0))
    ]
    change = tpudiag.compare(*sides)
    assert change.subject.name == "old -> new"
    assert change.measurements["step_time_ms_change"].value == pytest.approx(20)
