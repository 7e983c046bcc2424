"""Ctrl-C while a change is rehearsed: nothing is written; rehearsals are faked."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests import made
from tests.sources.job.programs import THIS_PYTHON
from tpudiag.diagnoses import fix, job
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.hardware import target
from tpudiag.model import Finding, Location, Report, Severity, Verdict
from tpudiag.phases import OnPhase
from tpudiag.report_figures import StepSamples
from tpudiag.settings import Settings
from tpudiag.sources.compiler.compile_step import CompilerRequest

TEXT = "import tensorflow as tf\ndataset = make().batch(8)\n"


def report() -> Report:
    finding = Finding("the pipeline ends in Batch", "", (), Location("train.py", 2))
    outcome = made.outcome(
        "TPU202", Verdict.FAILED, finding, name="missing-prefetch", severity=Severity.WARNING
    )
    samples = StepSamples("loss", "", (1.0,)), StepSamples("sums", "", ())
    return made.report(outcome, samples=samples)


def request() -> fix.FixRequest:
    asked = JobRequest(
        program="train.py",
        name="train.py",
        target=target("v5e-8"),
        target_choice="asked",
        timeout_s=60.0,
        compiler=CompilerRequest(timeout_s=60.0),
        python=THIS_PYTHON,
    )
    return fix.FixRequest(job=asked, write=True)


def test_ctrl_c_while_a_change_is_rehearsed_leaves_the_original(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text(TEXT)
    tried: list[tuple[tuple[str, str], ...]] = []

    def diagnose(asked: JobRequest, _: Settings, __: OnPhase) -> Report:
        tried.append(asked.changed_sources)
        return replace(report(), interrupted=bool(asked.changed_sources))

    monkeypatch.setattr(job, "diagnose", diagnose)
    with pytest.raises(KeyboardInterrupt):
        fix.diagnose(request(), Settings())
    assert [len(overlay) for overlay in tried] == [0, 1]  # as it is, then with the change
    assert (tmp_path / "train.py").read_text() == TEXT
    assert [path.name for path in tmp_path.iterdir()] == ["train.py"]
