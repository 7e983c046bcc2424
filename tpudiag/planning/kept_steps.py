"""The step of a job by batch: kept from an earlier plan, or requested from the job itself.

A lowered step stays valid while the job's own modules, arguments, environment variables and
libraries are the same; other inputs (a vocabulary's size) are not examined, as the plan says.
"""

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tpudiag.bounded_files import write_whole
from tpudiag.compiled import LoweredStep
from tpudiag.signals import Batch
from tpudiag.sources.compiler import cache
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.lowering_client import Dialog
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.version import __version__

FORM = 2
"""Incremented when a job's record, or the lowering, changes."""
PASSING = (
    "_", "OLDPWD", "SHLVL", "TERM", "COLUMNS", "LINES", "DISPLAY", "WINDOWID", "TPUDIAG_CACHE",
)  # fmt: skip
"""Environment variables that vary between calls without affecting a step."""


@dataclass(frozen=True, kw_only=True)
class KeptJob:
    """The record of a job from an earlier plan."""

    sources: dict[str, str]
    """The job's own modules, with the SHA-256 of their content."""
    batch: Batch
    alone: bool
    steps: tuple[LoweredStep, ...]


def name_of(spec: JobSpec, python: JobPython) -> str:
    """The name of a job's record: everything that its step depends on besides its modules."""
    run = Path(spec.log_dir).name  # of this run only: its output folder does not change a step
    arguments = [argument.replace(run, "") if run else argument for argument in spec.arguments]
    # All but a few, since it is unknown which of them the script reads, and a stale step would give
    # a wrong plan.
    variables = sorted((k, v) for k, v in os.environ.items() if k not in PASSING)
    parts = (
        FORM,
        __version__,
        python.path,
        sorted(python.distributions.items()),
        str(Path.cwd()),
        spec.program,
        arguments,
        spec.is_module,
        spec.cells,
        spec.fake_data,
        spec.replicas if spec.of_jax else 0,
        variables,
    )
    return hashlib.sha256(repr(parts).encode()).hexdigest()


class Steps:
    """The lowered steps of one job, which is started only when an unknown one is needed."""

    def __init__(self, name: str, start: Callable[[], Dialog]) -> None:
        self._name, self._start = name, start
        self._lock = threading.Lock()
        self._kept = _load(name)
        self.dialog: Dialog | None = None
        """The job, if it was started."""
        self._reused = 0

    @property
    def reused(self) -> int:
        """Steps lowered by an earlier plan."""
        return self._reused

    @property
    def alone(self) -> bool:
        """Whether the job trains outside a strategy, or on one device."""
        if self._kept is not None:
            return self._kept.alone
        return self.dialog is not None and self.dialog.alone

    def wait(self) -> Batch | None:
        """The batch of the job's own step; None where it ended without one."""
        return self._kept.batch if self._kept is not None else self._started_job().wait()

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch; may be called from any thread."""
        for step in self._kept.steps if self._kept is not None else ():
            if (step.batch, step.replicas) == (batch, replicas):
                self._reused += 1
                return step
        dialog = self._started_job()
        own = dialog.wait()
        step = dialog.lower(batch, replicas)
        # A step that did not lower is requested again: its reason may be gone.
        if own is not None and step.path is not None:
            with self._lock:
                self._kept = _kept(self._name, self._kept, dialog, own, step)
        return step

    def close(self) -> None:
        """End the job; may be called twice."""
        if self.dialog is not None:
            self.dialog.close()

    def _started_job(self) -> Dialog:
        """The job, started at the first use."""
        with self._lock:
            if self.dialog is None:
                self.dialog = self._start()
            return self.dialog


class StepsByDevices(Steps):
    """The steps of a JAX job, whose mesh depends on the devices that it finds: one run per
    number of devices."""

    def __init__(
        self, devices: int, named: Callable[[int], tuple[str, Callable[[], Dialog]]]
    ) -> None:
        super().__init__(*named(devices))
        self._devices, self._named = devices, named
        self._others: dict[int, Steps] = {}

    @property
    def reused(self) -> int:
        """Steps lowered by an earlier plan."""
        return super().reused + sum(steps.reused for steps in self._others.values())

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch on each of so many devices; may be called from any thread."""
        if self.alone or replicas == self._devices:
            return super().lower(batch, replicas)
        with self._lock:
            if replicas not in self._others:
                self._others[replicas] = Steps(*self._named(replicas))
            steps = self._others[replicas]
        if steps.wait() is None:
            reason = f"on {replicas} devices the job shows no training step"
            return LoweredStep(batch=batch, replicas=replicas, error=reason)
        return steps.lower(batch, replicas)

    def close(self) -> None:
        """End the jobs; may be called twice."""
        super().close()
        for steps in self._others.values():
            steps.close()


def _folder() -> Path:
    """Beside the compilations."""
    return cache.folder() / "lowered"


def _load(name: str) -> KeptJob | None:
    """The job's record; None where there is none, or a module has changed."""
    try:
        kept = msgspec.json.decode((_folder() / f"{name}.json").read_bytes(), type=KeptJob)
        same = all(_digest(Path(file)) == digest for file, digest in kept.sources.items())
    except (OSError, msgspec.MsgspecError):
        return None
    there = tuple(step for step in kept.steps if step.path and Path(step.path).is_file())
    return replace(kept, steps=there) if same and there else None


def _kept(
    name: str, before: KeptJob | None, dialog: Dialog, batch: Batch, step: LoweredStep
) -> KeptJob | None:
    """The job's record with another step; unchanged where it cannot be written."""
    with contextlib.suppress(OSError):
        _folder().mkdir(parents=True, exist_ok=True)
        known = (*(before.steps if before is not None else ()), _copied(name, step))
        sources = {file: _digest(Path(file)) for file in dialog.sources}
        after = KeptJob(sources=sources, batch=batch, alone=dialog.alone, steps=known)
        # A job with unknown modules could not be distinguished from a changed one.
        if sources:
            write_whole(_folder() / f"{name}.json", msgspec.json.encode(after))
            return after
    return before


def _copied(name: str, step: LoweredStep) -> LoweredStep:
    """The step with its files in the cache."""
    copies: dict[str, str | None] = {"path": step.path, "locations_path": step.locations_path}
    for field, file in copies.items():
        if file is not None:
            ending = "".join(Path(file).suffixes)
            copy = _folder() / f"{name}-{step.batch}-{step.replicas}{ending}"
            write_whole(copy, Path(file).read_bytes())
            copies[field] = str(copy)
    return replace(step, path=copies["path"], locations_path=copies["locations_path"])


def _digest(file: Path) -> str:
    return hashlib.sha256(file.read_bytes()).hexdigest()
