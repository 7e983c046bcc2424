"""A capture of running trainers as a report: what `attach` shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from tpudiag.catalogue import checks
from tpudiag.commands._profile import Asked, diagnosed
from tpudiag.commands._trainers import Targets, chosen, without_server
from tpudiag.engine import examine
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Report, Subject, Table
from tpudiag.settings import Settings
from tpudiag.signals import Origin, Signals, UnreadHost
from tpudiag.sources.live.capture import Capture, Wish, capture
from tpudiag.sources.live.probe import probe_all
from tpudiag.sources.live.runs import run_folder

OnPhase = Callable[[str], None]


@dataclass(frozen=True)
class Attach:
    """What `tpudiag attach` was asked for."""

    targets: tuple[str, ...]
    wish: Wish
    log_dir: Path


@dataclass(frozen=True)
class Attached:
    """The report, and what went wrong on the way: one line for each trainer without a profile."""

    report: Report
    faults: tuple[str, ...] = ()
    interrupted: bool = False
    diagnosed: bool = True
    """Whether any check had something to look at."""


def attached(asked: Attach, settings: Settings, on_phase: OnPhase) -> Attached:
    """Capture all trainers at once, and report on what came.

    Raises NothingDiagnosed where there is nothing to report on, UsageError for a wrong address.
    """
    on_phase("looking for the trainers")
    targets = chosen(asked.targets)
    probes = probe_all(targets.addresses)
    tables, faults = without_server(targets, asked.wish.duration_s, on_phase)
    answering = sum(probe.fault is None for probe in probes)
    if answering:
        on_phase(f"capturing {asked.wish.duration_s:g} s of {answering} trainers")
    with run_folder(asked.log_dir) as run:
        captures, interrupted = capture(probes, asked.wish, run) if answering else (
            tuple(Capture(probe.address, fault=probe.fault) for probe in probes), False
        )  # fmt: skip
        missing = [*_missing(captures), *faults]
        lines = tuple(f"{host.name}: {host.reason}" for host in missing)
        if any(done.file is not None for done in captures):
            on_phase("reading the profile")
            report, cut = diagnosed(
                Asked(
                    str(run),
                    subject=Subject("trainer", _name(targets)),
                    missing=tuple(missing),
                    notes=(*targets.notes, *_notes(asked.wish, captures)),
                ),
                settings,
            )
            report = replace(report, tables=(*report.tables, *tables))
            return Attached(report, lines, interrupted or cut)
    if interrupted:
        raise KeyboardInterrupt
    if not tables:
        raise NothingDiagnosed("\ntpudiag: ".join(lines) or "no trainer was named")
    return Attached(_only_stacks(targets, tables, lines, settings), lines, diagnosed=False)


def _missing(captures: Sequence[Capture]) -> list[UnreadHost]:
    """The trainers that gave no profile, and why."""
    return [UnreadHost(str(c.address), c.fault) for c in captures if c.fault is not None]


def _name(targets: Targets) -> str:
    """The trainers by their addresses and pids; the first of many."""
    names = [str(address) for address in targets.addresses]
    names += [f"pid {trainer.pid}" for trainer in targets.without]
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


def _notes(wish: Wish, captures: Sequence[Capture]) -> tuple[str, ...]:
    """How the profile came about."""
    files = [done for done in captures if done.file is not None]
    slowest = max(files, key=lambda done: done.took_s)
    return (
        f"Captured {wish.duration_s:g} s of {len(files)} of {len(captures)} trainers; the last "
        f"profile was in after {slowest.took_s:.1f} s. A capture slows the trainer while it runs "
        "and while the profile is gathered.",
    )


def _only_stacks(
    targets: Targets, tables: Sequence[Table], lines: Sequence[str], settings: Settings
) -> Report:
    """The report on trainers that serve no profiler: where they stand, and no check measured."""
    return Report(
        subject=Subject("trainer", _name(targets)),
        target=None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=examine(Signals(Origin.PROFILE), checks(), settings),
        tables=tuple(tables),
        headline="No profile: the trainer runs no profiler server. Where its Python stands:",
        notes=targets.notes,
        partial="; ".join(lines),
    )
