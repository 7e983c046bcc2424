"""What a comparison of two reports shows."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tpudiag import report_json
from tpudiag.cli import main
from tpudiag.diagnoses.changes import INPUT_CPU, changes, lost
from tpudiag.model import Report, Subject
from tpudiag.report_figures import Measurement


def job(name: str, need: int) -> Report:
    return Report(
        subject=Subject("job", name),
        target=None,
        started="2026-01-02T03:04:05Z",
        outcomes=(),
        measurements={"hbm_need_bytes": Measurement(need, "bytes", "TPU compiler")},
    )


def test_untested_figures_take_no_column_and_other_jobs_are_said(tmp_path: Path) -> None:
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    made = tmp_path / "compared.json"
    for names in (("train.py", "train.py"), ("train.py", "other.py")):
        for file, name in zip(files, names, strict=True):
            file.write_text(report_json.dumps(job(name, 1000)))
        main(["compare", *map(str, files), "-o", str(made)])
        compared = report_json.load(made)
        assert compared.tables[0].columns == ("figure", "A", "B", "change", "verdict")
        assert len(compared.tables[0].rows[0]) == len(compared.tables[0].columns)
        told = any("different jobs: train.py and other.py" in note for note in compared.notes)
        assert told == (len(set(names)) == 2)


def fed(us: float) -> Report:
    measurements = {INPUT_CPU: Measurement(us, "us of one core", "the pipeline alone")}
    return replace(job("train.py", 1000), measurements=measurements)


def test_cpu_time_of_the_input_is_judged_by_what_differs_from_run_to_run() -> None:
    before, noisy, slower = (
        [fed(us) for us in side]
        for side in ((100.0, 110.0, 104.0), (101.0, 112.0, 106.0), (150.0, 162.0, 155.0))
    )

    def closes(left: list[Report], right: list[Report]) -> bool:
        (change,) = changes(left, right)
        return change.regressed(0.02)

    assert closes(before, slower) and not closes(before, noisy)
    assert not closes(before[:1], slower[:1]), "one run a side tells nothing of its noise"
    assert lost(before, [replace(fed(1.0), measurements={})]) == ()
