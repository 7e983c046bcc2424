"""Whether the job's threads waited for cores for most of the lost time, and who took them."""

from tpudiag.monitoring.causes.host import HostFigures
from tpudiag.monitoring.causes.observations import EXPLAINED, Observations
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind

OTHERS_BUSY, OTHERS_GREW = 0.4, 0.05
"""Shares of the host's cores: used by others, and the growth of that use."""
TAKEN = 0.5
"""Where all cores were busy before: others' gain as a share of the job's loss."""
STARVED, STANDING = 0.7, 0.1
"""Runnable threads' time on a core, relative to before; and absolute, in a stall."""
SLOWED = 0.4
"""The share of the lost time that a purely computing job would have lost by it."""
THROTTLED = 0.2


def starvation(seen: Observations) -> Cause | None:
    """By the container's limit, or by others; None where the figures do not explain the loss."""
    if seen.host is None or seen.host_before is None:
        return None
    return _limited(seen, seen.host, seen.host_before) or _taken(seen, seen.host, seen.host_before)


def _limited(seen: Observations, host: HostFigures, before: HostFigures) -> Cause | None:
    if host.throttled is None or host.throttled <= THROTTLED + 2 * (before.throttled or 0.0):
        return None
    # In a stall no step ends to compare the time with.
    if not seen.stalled and not _accounts(seen, before.throttled or 0.0, host.throttled):
        return None
    figure = CauseFigure("held back by the container's CPU limit", round(100 * host.throttled, 1),
                         "%", round(100 * (before.throttled or 0.0), 1), "cpu.stat")  # fmt: skip
    return Cause(CauseKind.HOST_CPU, "the container's CPU limit holds the job back", (figure,))


def _taken(seen: Observations, host: HostFigures, before: HostFigures) -> Cause | None:
    """Others arrived, and the job's threads wait for cores.

    Threads that sleep or wait for a disk wait for no core; computing threads lose as much as they
    wait, and wait for more of their time. So both the time waited and the share obtained must
    account for the steps' loss.
    """
    # Without the scheduler's figures busy neighbours prove nothing: the job may not need the cores.
    if host.queued is None or before.queued is None:
        return None
    if not _came(host, before) or host.others_cores < OTHERS_BUSY * host.cores:
        return None
    had, had_before = _had(host), _had(before)
    if seen.stalled:
        proven = had < STANDING and host.queued > EXPLAINED
    else:
        proven = (
            host.queued > before.queued
            and had < STARVED * had_before
            and _accounts(seen, before.queued, host.queued)
            and _slowed(seen, had_before / max(had, 1e-9))
        )
    if not proven:
        return None
    return Cause(CauseKind.HOST_CPU, "other processes take the host's cores", (
        CauseFigure("cores busy with other processes", round(host.others_cores, 1), "cores",
                    round(before.others_cores, 1), "psutil"),
        CauseFigure("threads of the job that wait for a core", round(host.queued, 1), "threads",
                    round(before.queued, 1), "/proc/PID/task/*/schedstat"),
        CauseFigure("cores that the job has", round(host.own_cores, 1), "cores",
                    round(before.own_cores, 1), "psutil"),
    ))  # fmt: skip


def _came(host: HostFigures, before: HostFigures) -> bool:
    """Whether others use more of the cores than before."""
    gained, lost = host.others_cores - before.others_cores, before.own_cores - host.own_cores
    return gained > OTHERS_GREW * host.cores or (gained > 0 and gained >= TAKEN * lost > 0)


def _accounts(seen: Observations, before: float, now: float) -> bool:
    """Whether the growth of a time share, per step, explains most of the step's growth."""
    if seen.before is None or seen.now is None:
        return False
    grown_ms = now * seen.now.step_ms - before * seen.before.step_ms
    return grown_ms >= EXPLAINED * (seen.now.step_ms - seen.before.step_ms)


def _slowed(seen: Observations, times: float) -> bool:
    """Whether computing slowed down by this factor explains the step's time."""
    if seen.before is None or seen.now is None:
        return False
    return seen.before.step_ms * (times - 1) >= SLOWED * (seen.now.step_ms - seen.before.step_ms)


def _had(host: HostFigures) -> float:
    """The share of the time in which runnable threads had a core."""
    ready = host.own_cores + (host.queued or 0.0)
    # Threads that all sleep are not starved.
    return host.own_cores / ready if ready > 0 else 1.0
