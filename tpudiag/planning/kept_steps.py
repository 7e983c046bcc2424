"""The step of a job by batch: kept from an earlier plan, or requested from the job itself.

A lowered step is the same while the job's own modules, its arguments, its environment variables
and the libraries are; what it reads from elsewhere (a vocabulary's size) is not looked at, which
the plan says.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tpudiag.compiled import LoweredStep
from tpudiag.signals import Batch
from tpudiag.sources.compiler import cache
from tpudiag.sources.job.process.job_python import JobPython
from tpudiag.sources.job.process.lowering_client import Dialog
from tpudiag.sources.job.process.protocol import JobSpec
from tpudiag.version import __version__
from tpudiag.whole_files import write_whole

FORM = 2
"""Counts up when what is kept of a job, or how a step is lowered, changes."""
PASSING = (
    "_",
    "OLDPWD",
    "SHLVL",
    "TERM",
    "COLUMNS",
    "LINES",
    "DISPLAY",
    "WINDOWID",
    "TPUDIAG_CACHE",
)
"""Environment variables that change from call to call and that no step depends on."""


@dataclass(frozen=True, kw_only=True)
class KeptJob:
    """What an earlier plan learned of a job."""

    sources: dict[str, str]
    """The job's own modules, each with the SHA-256 of its content."""
    batch: Batch
    alone: bool
    steps: tuple[LoweredStep, ...]


def name_of(spec: JobSpec, python: JobPython) -> str:
    """The name of a job's record: what its step depends on beside its modules."""
    run = Path(spec.log_dir).name  # of this run alone: where it leaves files changes no step
    arguments = [argument.replace(run, "") if run else argument for argument in spec.arguments]
    # All but a few: which of them the script reads nobody knows, and a stale step would be a wrong
    # plan.
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
    """The lowered steps of one job; the job is started when one is not known yet."""

    def __init__(self, name: str, start: Callable[[], Dialog]) -> None:
        self._name, self._start = name, start
        self._lock = threading.Lock()
        self._kept = _load(name)
        self._dialog: Dialog | None = None
        self.reused = 0
        """Steps that an earlier plan had lowered."""

    @property
    def alone(self) -> bool:
        """Whether the job trains under no strategy."""
        if self._kept is not None:
            return self._kept.alone
        return self._dialog is not None and self._dialog.alone

    @property
    def dialog(self) -> Dialog | None:
        """The job, where it was started."""
        return self._dialog

    def wait(self) -> Batch | None:
        """The batch of the job's own step; None where it ended without one."""
        return self._kept.batch if self._kept is not None else self._asked().wait()

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch; any thread may ask."""
        for step in self._kept.steps if self._kept is not None else ():
            if (step.batch, step.replicas) == (batch, replicas):
                self.reused += 1
                return step
        dialog = self._asked()
        own = dialog.wait()
        step = dialog.lower(batch, replicas)
        # A step that did not lower is requested again: its reason may be gone.
        if own is not None and step.path is not None:
            with self._lock:
                self._kept = _kept(self._name, self._kept, dialog, own, step)
        return step

    def close(self) -> None:
        """Let the job end; safe to call twice."""
        if self._dialog is not None:
            self._dialog.close()

    def _asked(self) -> Dialog:
        """The job, started when it is first needed."""
        with self._lock:
            if self._dialog is None:
                self._dialog = self._start()
            return self._dialog


class StepsByDevices:
    """The steps of a job of JAX, whose mesh it makes of the devices that it finds: a run for each
    number of them."""

    def __init__(self, devices: int, start: Callable[[int], Steps]) -> None:
        self._start, self._lock = start, threading.Lock()
        self._own = start(devices)
        self._of = {devices: self._own}

    @property
    def reused(self) -> int:
        """Steps that an earlier plan had lowered."""
        return sum(steps.reused for steps in self._of.values())

    @property
    def alone(self) -> bool:
        """Whether the job trains on one device."""
        return self._own.alone

    @property
    def dialog(self) -> Dialog | None:
        """The job on the first target."""
        return self._own.dialog

    def wait(self) -> Batch | None:
        """The batch of the job's own step; None where it ended without one."""
        return self._own.wait()

    def lower(self, batch: int, replicas: int) -> LoweredStep:
        """The step with this batch on each of so many devices; any thread may ask."""
        if self.alone:
            return self._own.lower(batch, replicas)
        with self._lock:
            if replicas not in self._of:
                self._of[replicas] = self._start(replicas)
            steps = self._of[replicas]
        if steps.wait() is None:
            reason = f"on {replicas} devices the job shows no training step"
            return LoweredStep(batch=batch, replicas=replicas, error=reason)
        return steps.lower(batch, replicas)

    def close(self) -> None:
        """Let the jobs end; safe to call twice."""
        for steps in self._of.values():
            steps.close()


def _folder() -> Path:
    """Beside the compilations."""
    return cache.folder() / "lowered"


def _load(name: str) -> KeptJob | None:
    """What is known of the job; None where nothing is, or a module of its changed."""
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
    """The job's record with one more step; as it was where it cannot be written."""
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
    """Of the file's content."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
