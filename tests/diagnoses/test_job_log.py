"""The logs of a running job, read as they grow, and judged by TPU605."""

from pathlib import Path

from tpudiag.catalogue import checks
from tpudiag.diagnoses.job_log import JobLog
from tpudiag.engine import examine
from tpudiag.settings import Settings
from tpudiag.signals import Origin, Signals


def test_error_of_a_running_job_is_told_when_it_comes(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    path.write_text("step 1\n")
    log = JobLog([path])
    assert log.look() == ()
    with path.open("a") as stream:
        stream.write("UnavailableError: Socket closed\n" + "step 2\n" * 50)
    assert [each.error.family for each in log.look()] == ["worker-lost"]
    assert log.look() == ()
    signals = Signals(origin=Origin.RECORDING, end=log.end())
    (outcome,) = examine(signals, checks(), Settings(select=("TPU605",)))
    assert "E28" in outcome.findings[0].message


def test_log_that_is_cut_is_read_anew_and_a_missing_one_is_silent(tmp_path: Path) -> None:
    path = tmp_path / "train.log"
    log = JobLog([path, tmp_path / "none.log"])
    assert log.look() == () and log.end() is None
    path.write_text("step 1\n" * 100)
    assert log.look() == ()
    path.write_text("UnavailableError: Socket closed\n")
    assert [each.error.id for each in log.look()] == ["E28"]
