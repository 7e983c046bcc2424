"""Jobs of which nothing can be said end in one line that says why."""

from dataclasses import replace
from pathlib import Path

import pytest

from tpudiag.diagnoses import job_summary
from tpudiag.diagnoses.notebook_job import NotebookProgram
from tpudiag.diagnoses.undiagnosed import refuse_framework, refuse_nothing, unreachable
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Framework, Location
from tpudiag.signals import JobEnd, Origin, Signals
from tpudiag.signals.environment import JobEndKind
from tpudiag.sources.notebook import Notebook, SkippedLine

FINISHED = Signals(origin=Origin.REHEARSAL, end=JobEnd(how="finished"))


def test_another_framework_is_named() -> None:
    with pytest.raises(NothingDiagnosed, match="trains with PyTorch: not diagnosed"):
        refuse_framework("train.py", "torch")
    with pytest.raises(NothingDiagnosed, match="PyTorch"):
        refuse_nothing("train.py", FINISHED, {"frameworks": ["torch"]}, ())
    with pytest.raises(NothingDiagnosed, match="PyTorch"):
        refuse_nothing("train.py", Signals(origin=Origin.REHEARSAL), {"keras_backend": "torch"}, ())


def test_a_job_of_jax_that_imports_pytorch_is_not_one_of_pytorch() -> None:
    jax = replace(FINISHED, framework=Framework.JAX)
    with pytest.raises(NothingDiagnosed, match="no training step and no dataset"):
        refuse_nothing("train.py", jax, {"frameworks": ["torch"]}, ())


def test_a_job_that_trains_nothing_is_no_healthy_job() -> None:
    with pytest.raises(NothingDiagnosed, match="no training step and no dataset"):
        refuse_nothing("hello.py", FINISHED, {"frameworks": []}, ())
    with pytest.raises(NothingDiagnosed, match=r"it defines train and others, and calls nothing"):
        refuse_nothing("lib.py", FINISHED, {}, (), defines=("train", "read"))


def test_a_step_that_was_read_alone_is_a_step() -> None:
    jax = replace(FINISHED, framework=Framework.JAX)
    refuse_nothing("train.py", jax, {"step_not_run": "it is too large"}, ())


def test_statements_that_had_no_data_are_named_where_no_step_came() -> None:
    lost = {"passed_over": ("train.py:3 tokens = fetch() (OSError: no network)",)}
    lost |= {"failed_on_stand_ins": ("train.py:4 x = stack(rows) (ValueError: ragged)",)}
    refuse_nothing("train.py", FINISHED, lost, ())
    hows: tuple[JobEndKind, ...] = ("finished", "stopped")
    for how in hows:
        ran = replace(FINISHED, end=JobEnd(how=how))
        told = job_summary.partial(ran, None, "python", job_summary.passed_over(lost)) or ""
        assert "lack of data, what" in told and "tokens = fetch" in told
        assert "whether they fail in a real run" in told and "x = stack" in told
    filled = replace(FINISHED, stood_in=("train.csv",))
    assert job_summary.partial(filled, None, "python") == "no training step was seen."
    assert job_summary.partial(FINISHED, None, "python") is None, "it may read or predict alone"


def test_a_notebook_that_starts_its_training_in_a_shell_is_told_how_to_rehearse_that() -> None:
    line = SkippedLine(5, 2, "!python train.py --tpu=local")
    program = NotebookProgram("/run/notebook.py", Notebook("a.ipynb", "", (1,), (line,)))
    with pytest.raises(NothingDiagnosed, match=r"cell 5.*tpudiag check train.py -- --tpu=local"):
        refuse_nothing("a.ipynb", FINISHED, {}, (), program.started())


def test_a_job_that_crashed_is_diagnosed() -> None:
    crashed = Signals(origin=Origin.REHEARSAL, end=JobEnd(how="exception", error="ValueError: x"))
    refuse_nothing("train.py", crashed, {"frameworks": ["torch"]}, ())


@pytest.mark.parametrize(
    ("error", "what"),
    [
        ("FailedPreconditionError: Error executing an HTTP request: libcurl code 6 meaning 'Could "
         "not resolve hostname', error details: x\n\t when reading gs://bucket/a", "gs://bucket/a"),
        ("UnimplementedError: File system scheme 'gs' not implemented (file: 'gs://b/c')",
         "gs://b/c"),
        ("ValueError: Failed to get matching files on gs://b/checkpoint: FAILED_PRECONDITION: "
         "libcurl code 6", "gs://b/checkpoint"),
        ("Exception: URL fetch failure on https://host/mnist.npz: None -- [Errno -2] Name or "
         "service not known", "https://host/mnist.npz"),
        ("ModuleNotFoundError: No module named 'kaggle_datasets'", "the module kaggle_datasets"),
        ("FileNotFoundError: [Errno 2] No such file or directory: '/gcs/bucket/train.csv'",
         "/gcs/bucket/train.csv"),
    ],
)  # fmt: skip
def test_data_that_is_away_is_named_with_its_line(error: str, what: str) -> None:
    end = JobEnd(how="exception", error=error, location=Location("train.py", 7))
    line = unreachable(end, fake_data=False)
    assert line is not None
    assert line.startswith(f"train.py:7 asks for {what}, which cannot be reached from here")
    assert "--fake-data" in line
    assert "--fake-data" not in (unreachable(end, fake_data=True) or "--fake-data")


def test_a_file_that_is_missing_on_a_disk_that_is_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = JobEnd(how="exception", error="FileNotFoundError: No such file: '../input/a.csv'")
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    assert unreachable(end, fake_data=False) is not None
    (tmp_path / "input").mkdir()
    assert unreachable(end, fake_data=False) is None


def test_any_other_error_is_none_of_these() -> None:
    unlike = JobEnd(how="exception", error="ValueError: gs://bucket is no number")
    assert unreachable(unlike, False) is unreachable(JobEnd(how="finished"), False) is None
