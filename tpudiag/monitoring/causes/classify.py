"""Tells the cause of a drop or a stall from what was seen; none where the figures prove none.

A cause must explain most of the time that was lost, by a figure that grew since before. Those
that make others look guilty come first: a busy host starves the input, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tpudiag.monitoring.causes.host import HostFigures
from tpudiag.monitoring.causes.observations import Observations, Pace
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind

EXPLAINED = 0.6
"""The share of the lost time that a cause must account for."""
OTHERS_BUSY, STARVED, QUEUED_GREW = 0.4, 0.7, 0.1
"""Cores that others keep busy; the time that ready threads had a core, of what it was; threads
that wait for one, more than before."""
THROTTLED = 0.2
PRESSURE, FAULTS_PER_S, SWAP_MIB_PER_S, SCARCE = 10.0, 50.0, 1.0, 0.05
HBM_FULL = 0.97
STANDS = 0.6
"""The share of a stall's samples in which one thing goes on."""


def cause(seen: Observations) -> Cause | None:
    """The first that is proven."""
    rules: tuple[Callable[[Observations], Cause | None], ...] = (
        _stopped, _preempted, _pausing, _memory, _cpu, _compile, _by_stack, _input, _partner,
        _hbm,
    )  # fmt: skip
    return next((verdict for rule in rules if (verdict := rule(seen)) is not None), None)


def _stopped(seen: Observations) -> Cause | None:
    """A signal."""
    return Cause(CauseKind.STOPPED, "a signal stopped the process") if seen.stopped else None


def _preempted(seen: Observations) -> Cause | None:
    """The machine was told so."""
    if seen.preempted is None:
        return None
    return Cause(CauseKind.PREEMPTION, f"the machine is being taken away: {seen.preempted}")


def _pausing(seen: Observations) -> Cause | None:
    """It hangs in a pause that it announced itself."""
    if not seen.stalled or seen.pausing is None:
        return None
    kinds = {"evaluation": CauseKind.EVALUATION, "checkpoint": CauseKind.CHECKPOINT,
             "restore": CauseKind.CHECKPOINT}  # fmt: skip
    kind = kinds.get(seen.pausing)
    return None if kind is None else Cause(kind, f"it has not come back from its {seen.pausing}")


def _memory(seen: Observations) -> Cause | None:
    """The host swaps, or reads back what it had to throw out."""
    host, before = seen.host, seen.host_before
    if host is None or before is None:
        return None
    grown = (
        host.swapped_in_mib_per_s > SWAP_MIB_PER_S + 3 * before.swapped_in_mib_per_s
        or host.major_faults_per_s > FAULTS_PER_S + 3 * before.major_faults_per_s
    )
    pressed = host.memory_pressure is not None and (
        host.memory_pressure > PRESSURE + 2 * (before.memory_pressure or 0.0)
    )
    scarce = host.available_share < SCARCE < before.available_share
    if not (pressed and (grown or scarce)) and not (grown and scarce):
        return None
    figures = (
        CauseFigure("memory that can be had", _percent(host.available_share), "%",
                    _percent(before.available_share), "psutil"),
        CauseFigure("waiting for memory", host.memory_pressure or 0.0, "%",
                    before.memory_pressure, "/proc/pressure"),
        CauseFigure("swapped in", round(host.swapped_in_mib_per_s, 1), "MiB/s",
                    round(before.swapped_in_mib_per_s, 1), "psutil"),
        CauseFigure("pages read back", round(host.major_faults_per_s, 1), "/s",
                    round(before.major_faults_per_s, 1), "/proc/PID/stat"),
        CauseFigure("memory of the process", round(host.resident_gib, 2), "GiB",
                    round(before.resident_gib, 2), "psutil"),
    )  # fmt: skip
    return Cause(CauseKind.HOST_MEMORY, "the host is short of memory", figures)


def _cpu(seen: Observations) -> Cause | None:
    """Others took the cores, or a limit did: threads of the job wait for one."""
    host, before = seen.host, seen.host_before
    if host is None or before is None:
        return None
    if host.throttled is not None and host.throttled > THROTTLED + 2 * (before.throttled or 0.0):
        figure = CauseFigure("held back by the container's CPU limit", _percent(host.throttled),
                             "%", _percent(before.throttled or 0.0), "cpu.stat")  # fmt: skip
        return Cause(CauseKind.HOST_CPU, "the container's CPU limit holds the job back", (figure,))
    if host.queued is None or before.queued is None or not _own_grew(seen):
        return None
    ran, ran_before = _ran(host), _ran(before)
    starved = ran < STARVED * ran_before and host.queued - before.queued > QUEUED_GREW
    if not (starved and host.others_cores > OTHERS_BUSY * host.cores):
        return None
    figures = (
        CauseFigure("cores busy with other processes", round(host.others_cores, 1), "cores",
                    round(before.others_cores, 1), "psutil"),
        CauseFigure("threads of the job that wait for a core", round(host.queued, 1), "threads",
                    round(before.queued, 1), "/proc/PID/task/*/schedstat"),
        CauseFigure("cores that the job has", round(host.own_cores, 1), "cores",
                    round(before.own_cores, 1), "psutil"),
    )  # fmt: skip
    return Cause(CauseKind.HOST_CPU, "other processes take the host's cores", figures)


def _ran(host: HostFigures) -> float:
    """The share of the time in which threads that were ready had a core."""
    ready = host.own_cores + (host.queued or 0.0)
    return host.own_cores / ready if ready > 0 else 1.0


def _own_grew(seen: Observations) -> bool:
    """Whether not the wait for input alone grew; so where that was not measured."""
    if seen.before is None or seen.now is None:
        return seen.stalled
    if seen.now.wait_ms is None or seen.before.wait_ms is None:
        return True
    return _grown(seen, lambda pace: pace.wait_ms or 0.0) < 0.9


def _compile(seen: Observations) -> Cause | None:
    """Functions are traced again."""
    if seen.before is None or seen.now is None or not seen.traces:
        return None
    if _grown(seen, lambda pace: pace.compile_ms) < EXPLAINED:
        return None
    names = sorted({trace.function for trace in seen.traces})
    figures = (
        CauseFigure("tracing and compiling", _ms(seen.now.compile_ms), "ms a step",
                    _ms(seen.before.compile_ms), "the loop's own clock"),
        CauseFigure("functions traced", len(seen.traces), "traces", None, "TensorFlow"),
    )  # fmt: skip
    text = f"{', '.join(names[:3])} {'is' if len(names) == 1 else 'are'} traced again and again"
    return Cause(CauseKind.COMPILE, text, figures)


def _by_stack(seen: Observations) -> Cause | None:
    """What the main thread does most of the time that was lost."""
    if seen.main is None or seen.main.fault:
        return None
    least = STANDS if seen.stalled else max(EXPLAINED * seen.lost, 0.2)
    kinds = {"evaluation": (CauseKind.EVALUATION, "it evaluates"),
             "checkpoint": (CauseKind.CHECKPOINT, "it keeps or reads checkpoints"),
             "compile": (CauseKind.COMPILE, "it traces and compiles")}  # fmt: skip
    for activity, (kind, text) in kinds.items():
        share = seen.main.share(activity)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        if share >= least:
            figure = CauseFigure(f"main thread in {activity}", _percent(share), "%", None, "py-spy")
            return Cause(kind, f"{text} in {share:.0%} of its time", (figure,))
    return None


def _input(seen: Observations) -> Cause | None:
    """The wait for input grew by most of what the step grew."""
    waits = seen.before is not None and seen.now is not None and seen.now.wait_ms is not None
    if waits and seen.before is not None and seen.now is not None and not seen.stalled:
        if seen.before.wait_ms is None or _grown(seen, lambda p: p.wait_ms or 0.0) < EXPLAINED:
            return None
        figures = (
            CauseFigure("waiting for input", _ms(seen.now.wait_ms or 0.0), "ms a step",
                        _ms(seen.before.wait_ms), "the loop's own clock"),
            CauseFigure("the rest of the step", _ms(seen.now.own_ms), "ms a step",
                        _ms(seen.before.own_ms), "the loop's own clock"),
            *_reading(seen),
        )  # fmt: skip
        return Cause(CauseKind.INPUT, "the step waits for input", figures)
    if seen.main is None or not seen.stalled or seen.main.share("input") < STANDS:
        return None
    share = seen.main.share("input")
    figure = CauseFigure("main thread waiting for input", _percent(share), "%", None, "py-spy")
    return Cause(CauseKind.INPUT, "it waits for input that does not come", (figure,))


def _reading(seen: Observations) -> Iterator[CauseFigure]:
    """What the host reads, where it is known."""
    if seen.host is not None and seen.host_before is not None:
        yield CauseFigure("read from disk", round(seen.host.read_mib_per_s, 1), "MiB/s",
                          round(seen.host_before.read_mib_per_s, 1), "psutil")  # fmt: skip
        yield CauseFigure("received", round(seen.host.received_mib_per_s, 1), "MiB/s",
                          round(seen.host_before.received_mib_per_s, 1), "psutil")  # fmt: skip


def _partner(seen: Observations) -> Cause | None:
    """All workers but one stand at the same line: they wait for that one."""
    if seen.partner is None:
        return None
    worker, line = seen.partner
    return Cause(CauseKind.PARTNER, f"the others wait for {worker}, which is at {line}")


def _hbm(seen: Observations) -> Cause | None:
    """It filled up since."""
    before, now, limit = seen.before, seen.now, seen.hbm_limit_bytes
    if before is None or now is None or not limit or not now.hbm_bytes or not before.hbm_bytes:
        return None
    if not before.hbm_bytes < 0.9 * limit or not now.hbm_bytes > HBM_FULL * limit:
        return None
    figure = CauseFigure("HBM in use", _percent(now.hbm_bytes / limit), "%",
                         _percent(before.hbm_bytes / limit), "TensorFlow")  # fmt: skip
    return Cause(CauseKind.HBM, "HBM has filled up", (figure,))


def _grown(seen: Observations, part: Callable[[Pace], float]) -> float:
    """The share of what the step grew by that a part of it grew by."""
    assert seen.before is not None
    assert seen.now is not None
    whole = seen.now.step_ms - seen.before.step_ms
    return (part(seen.now) - part(seen.before)) / whole if whole > 0 else 0.0


def _percent(share: float) -> float:
    """A share in percent, to a tenth."""
    return round(100 * share, 1)


def _ms(value: float) -> float:
    """Milliseconds for evidence."""
    return round(value, 2)
