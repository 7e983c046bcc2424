"""Steps that an earlier plan lowered are taken again while the job's modules are as they were."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import pytest

from tpudiag.compiled import LoweredStep
from tpudiag.planning.kept_steps import Steps
from tpudiag.signals import Batch
from tpudiag.sources.job.process.lowering_client import Dialog


@dataclass
class Job:
    """A job whose step is lowered into a folder; it counts the requests."""

    folder: Path
    sources: tuple[str, ...]
    alone: bool = True
    refuses: bool = False
    asked: list[int] = field(default_factory=list[int])

    def wait(self) -> Batch:
        return Batch(256, 32, 8)

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        self.asked.append(batch)
        if self.refuses:
            return LoweredStep(batch=batch, replicas=replicas, error="a string")
        file = self.folder / f"step-{batch}.mlir"
        file.write_text(f"module {batch}")
        return LoweredStep(batch=batch, replicas=replicas, path=str(file))

    def close(self) -> None: ...


@pytest.fixture
def job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Job:
    monkeypatch.setenv("TPUDIAG_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "train.py"
    source.write_text("width = 8")
    return Job(tmp_path, (str(source),))


def steps(job: Job) -> Steps:
    return Steps("job", lambda: cast(Dialog, job))


def test_a_step_is_lowered_once_for_all_plans(job: Job) -> None:
    first = steps(job)
    assert first.wait() == Batch(256, 32, 8)
    first.lower(32, 8)
    second = steps(job)
    assert (second.wait(), second.alone) == (Batch(256, 32, 8), True)
    kept = second.lower(32, 8)
    assert kept.path is not None
    assert Path(kept.path).read_text() == "module 32"
    assert (job.asked, second.reused, second.dialog) == ([32], 1, None)
    second.lower(64, 8)
    assert job.asked == [32, 64]
    assert steps(job).lower(64, 8).path is not None
    assert job.asked == [32, 64]


@pytest.mark.parametrize("why", ["a module changed", "it was refused", "nothing can be kept"])
def test_what_is_not_kept_as_it_was_is_lowered_anew(job: Job, tmp_path: Path, why: str) -> None:
    job.refuses = why == "it was refused"
    if why == "nothing can be kept":
        (tmp_path / "cache").write_text("a file in its place")
    first = steps(job).lower(32, 8)
    if why == "a module changed":
        Path(job.sources[0]).write_text("width = 16")
    again = steps(job).lower(32, 8)
    assert job.asked == [32, 32]
    assert first.error == again.error == ("a string" if job.refuses else None)
    assert (first.path is None) is (again.path is None) is job.refuses
