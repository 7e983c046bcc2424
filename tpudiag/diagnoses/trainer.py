"""A capture of running trainers as a report, for `attach`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from tpudiag.catalogue import checks
from tpudiag.diagnoses.cloud_tpu import Located, asked_of
from tpudiag.diagnoses.job_pods import selected
from tpudiag.diagnoses.profile import ProfileRequest
from tpudiag.diagnoses.profile import diagnose as diagnose_profile
from tpudiag.diagnoses.report_parts import count, listed
from tpudiag.diagnoses.trainer_targets import Targets, chosen, standing, without_server
from tpudiag.engine import examine
from tpudiag.errors import NothingDiagnosed
from tpudiag.model import Report, Shortfall, Subject, TargetSummary, Verdict
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings
from tpudiag.signals import JobEnd, UnreadHost
from tpudiag.sources.live.capture import BUSY, Capture, CaptureRequest, capture
from tpudiag.sources.live.capture_size import fitted
from tpudiag.sources.live.job_log import log_end
from tpudiag.sources.live.pods import Selection
from tpudiag.sources.live.probe import Probe, probe_all
from tpudiag.sources.live.run_folder import RunFolder, run_folder


@dataclass(frozen=True, kw_only=True)
class TrainerRequest:
    """The options of `tpudiag attach`."""

    targets: tuple[str, ...]
    capture: CaptureRequest
    log_dir: str
    tpu: str | None = None
    project: str | None = None
    zone: str | None = None
    selection: Selection | None = None
    """The pods of a job on Kubernetes."""
    port: int = 6009
    xprof_limit_s: float | None = None
    force: bool = False
    """Capture although it may crash the trainer, or fill its memory."""


def diagnose(
    request: TrainerRequest, settings: Settings, on_phase: OnPhase = lambda _: None
) -> Report:
    """Capture all trainers at once, and report on the results.

    Raises NothingDiagnosed where there is nothing to report on, UsageError for a wrong address.
    """
    on_phase("looking for the trainers")
    cloud = asked_of(request.tpu, request.project, request.zone, request.port)
    pods = selected(request.selection, request.port)
    targets = chosen(request.targets, (*cloud.workers, *pods.workers))
    so_far = "\n".join(tail for pid in targets.pids if (tail := log_end(pid)))
    end = JobEnd(how="running", log_tail=so_far) if so_far else None
    probes = probe_all(targets.addresses)
    tables, faults = without_server(targets, request.capture.duration_s, on_phase)
    free = {} if request.force else targets.free()
    guarded = probes if request.force else targets.guarded(probes)
    smaller, fitting, changes = fitted(guarded, free, request.capture)
    request = replace(request, capture=smaller)
    found = Located(
        name=_name(targets, cloud.name),
        known=replace(cloud.known, end=end),
        tables=(*cloud.tables, *pods.tables, *tables),
        faults=(*pods.faults, *faults),
        notes=(*targets.notes, *pods.notes, *changes, *cloud.notes),
        headline=cloud.headline or pods.headline or targets.why_none,
    )
    with run_folder(request.log_dir) as run:
        captures, interrupted = _captured(fitting, request.capture, run, on_phase)
        if any(done.file is not None for done in captures):
            on_phase("reading the profile")
            report = _with_profile(request, found, captures, run, settings)
            if not interrupted:
                silent = [
                    done.address
                    for done in captures
                    if (done.fault is not None and done.fault != BUSY)
                    or "step_time_ms" not in report.measurements
                ]
                stands = standing(targets, silent, request.capture.duration_s, on_phase)
                report = replace(report, tables=(*stands, *report.tables))
            return replace(report, interrupted=interrupted or report.interrupted)
    if interrupted:
        raise KeyboardInterrupt
    silent = [done.address for done in captures if done.fault != BUSY]
    stands = standing(targets, silent, request.capture.duration_s, on_phase)
    found = replace(found, tables=(*found.tables, *stands))
    return _without_profile(found, captures, settings)


def _name(targets: Targets, tpu: str | None) -> str:
    """The TPU by its name, trainers by their addresses and pids; the first of many."""
    if tpu is not None:
        return f"TPU {tpu}"
    pids = (f"pid {trainer.pid}" for trainer in targets.without)
    return listed([*map(str, targets.addresses), *pids], 4)


def _captured(
    probes: Sequence[Probe], wish: CaptureRequest, run: RunFolder, on_phase: OnPhase
) -> tuple[tuple[Capture, ...], bool]:
    answering = [probe for probe in probes if probe.fault is None]
    left = len(answering)
    on_phase(f"capturing {wish.duration_s:g} s of {count(left, 'trainer')}")

    def done(_: Capture) -> None:
        nonlocal left
        left -= 1
        on_phase(f"waiting for the profiles of {left} of {len(answering)} trainers")

    return capture(probes, wish, run, done)


def _missing(found: Located, captures: Sequence[Capture]) -> tuple[UnreadHost, ...]:
    faulty = [UnreadHost(str(c.address), c.fault) for c in captures if c.fault is not None]
    return (*faulty, *found.faults)


def _lines(missing: Sequence[UnreadHost]) -> tuple[str, ...]:
    return tuple(f"{host.name}: {host.reason}" for host in missing)


def _with_profile(
    request: TrainerRequest,
    found: Located,
    captures: Sequence[Capture],
    run: RunFolder,
    settings: Settings,
) -> Report:
    missing = _missing(found, captures)
    profile = ProfileRequest(
        path=run.url,
        xprof_limit_s=request.xprof_limit_s,
        subject=Subject("trainer", found.name or ""),
        missing=missing,
        known=found.known,
        notes=(*found.notes, _note(request.capture, captures)),
    )
    report = diagnose_profile(profile, settings)
    return replace(
        report,
        tables=(*found.tables, *report.tables),
        faults=_lines(missing),
        shortfall=_shortfall(report, missing),
        profile_folder=run.url,
    )


def _shortfall(report: Report, missing: Sequence[UnreadHost]) -> Shortfall | None:
    """What the trainers without a profile leave undone."""
    if not any(o.verdict in (Verdict.PASSED, Verdict.FAILED) for o in report.outcomes):
        return "whole"
    return "part" if missing else None


def _note(wish: CaptureRequest, captures: Sequence[Capture]) -> str:
    taken = [done for done in captures if done.file is not None]
    slowest = max(taken, key=lambda done: done.took_s)
    return (
        f"Captured {wish.duration_s:g} s of {count(len(taken), 'trainer')}; the last profile was "
        f"in after {slowest.took_s:.1f} s. A capture slows the trainer while it runs and while "
        "the profile is gathered."
    )


def _without_profile(found: Located, captures: Sequence[Capture], settings: Settings) -> Report:
    """The report without a profile: on the TPU, and on Python's current lines.

    Raises NothingDiagnosed where neither is known.
    """
    missing = _missing(found, captures)
    lines = _lines(missing)
    if not found.tables:
        raise NothingDiagnosed("; ".join(lines) or "no trainer was named")
    target = found.known.target
    report = Report(
        subject=Subject("trainer", found.name or ""),
        target=TargetSummary(target.name, target.replicas) if target else None,
        started=datetime.now(UTC).isoformat(timespec="seconds"),
        outcomes=examine(found.known, checks(), settings),
        tables=found.tables,
        headline=found.headline,
        notes=found.notes,
        partial="; ".join(lines) or None,
        faults=lines,
    )
    return replace(report, shortfall=_shortfall(report, missing))
