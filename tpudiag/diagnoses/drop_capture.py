"""A profile of a trainer during a drop or a stall, where it serves a profiler.

Captured as by `tpudiag attach PID`: not where it could crash the trainer or fill its memory, and
within ten seconds, all waits included.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from tpudiag.diagnoses import trainer
from tpudiag.diagnoses.trainer import TrainerRequest
from tpudiag.errors import TpudiagError
from tpudiag.model import Report
from tpudiag.monitoring.causes.observations import EXPLAINED
from tpudiag.settings import Settings
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind
from tpudiag.sources.live.capture import CaptureRequest
from tpudiag.sources.live.processes import is_own
from tpudiag.sources.live.trainers import look

CAPTURE_S, ANSWER_S = 1.0, 4.0
FIGURES = {
    "input_wait_share": "waiting for input in a profile",
    "device_idle_share": "device idle in a profile",
    "eager_share": "operations run one by one in a profile",
    "mxu_utilization": "MXU use in a profile",
}
"""The profile's measurements that are shown beside a cause."""


@dataclass(frozen=True)
class DropCapture:
    """A captured profile, its folder, and its shares in percent."""

    folder: str
    figures: tuple[CauseFigure, ...]
    input_share: float | None
    """The share of a step, 0 to 1."""


def drop_capture(
    pid: int,
    log_dir: str,
    profiled: Callable[[int], bool] | None = None,
    diagnose: Callable[[TrainerRequest, Settings], Report] = trainer.diagnose,
) -> DropCapture | None:
    """Capture a second of a local trainer; None where it serves no profiler or no profile."""
    capture = CaptureRequest(CAPTURE_S, ANSWER_S)
    request = TrainerRequest(targets=(str(pid),), capture=capture, log_dir=log_dir)
    try:
        if not (profiled or serves_profiler)(pid):
            return None
        report = diagnose(request, Settings())
    # The cause is reported without a profile, too.
    except (TpudiagError, OSError):
        return None
    if report.profile_folder is None:
        return None
    shares = {
        name: measured.value
        for name, measured in report.measurements.items()
        if name in FIGURES and isinstance(measured.value, (int, float)) and measured.value
    }  # a share of 0 may come from marks without input
    wait = shares.get("input_wait_share")
    return DropCapture(
        report.profile_folder,
        tuple(
            CauseFigure(FIGURES[name], round(value, 1), "%", None, "profile")
            for name, value in shares.items()
        ),
        None if wait is None else wait / 100,
    )


def serves_profiler(pid: int) -> bool:
    """Whether a process of this user on this host has a profiler's port of its own."""
    return is_own(pid) and any(one.pid == pid and one.profilers for one in look().trainers)


def with_profile(cause: Cause | None, lost: float, seen: DropCapture) -> Cause | None:
    """A cause with the profile's figures; the input as the cause where the profile alone proves it.

    The wait before is unknown, but was no more than the whole step then: any wait beyond that is
    new.
    """
    if cause is not None:
        return replace(cause, figures=(*cause.figures, *seen.figures))
    if seen.input_share is None or not 0 < lost < 1:
        return None
    slower = 1 / (1 - lost)
    if (seen.input_share * slower - 1) / (slower - 1) < EXPLAINED:
        return None
    return Cause(CauseKind.INPUT, "the step waits for input", seen.figures)
