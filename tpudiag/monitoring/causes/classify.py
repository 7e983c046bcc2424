"""Tells the cause of a drop or a stall from what was seen; none where the figures prove none.

A cause must account for most of the time that was lost, by a figure that grew since before. Those
that make others look guilty come first: a host without memory starves the input, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tpudiag.monitoring.causes.observations import EXPLAINED, Observations, Pace
from tpudiag.monitoring.causes.stacks import Activity
from tpudiag.monitoring.causes.starvation import starvation
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind
from tpudiag.sources.live.tpu_monitoring import ChipScore

PRESSURE, SWAP_MIB_PER_S, SCARCE = 10.0, 1.0, 0.05
FAULTS_PER_S, MANY_FAULTS_PER_S = 5.0, 15.0
"""Pages read back, where the time that was waited for memory accounts for what was lost; else."""
PRESSED = 0.12
"""The share of the lost time that was waited for memory, at the least: reading back, and throwing
out what is read again, take the rest as computing and as waiting for the disk."""
HBM_FULL = 0.97
TENTH = 0.1
"""What one of libtpu's throttle score is of a chip's speed."""
STANDS = 0.6
"""The share of a stall's samples in which one thing goes on."""
GREW = 0.15
"""By so much its share of the samples must have grown in a drop."""
ACTIVITIES: dict[Activity, tuple[CauseKind, str]] = {
    "evaluation": (CauseKind.EVALUATION, "it evaluates"),
    "checkpoint": (CauseKind.CHECKPOINT, "it keeps or reads checkpoints"),
    "compile": (CauseKind.COMPILE, "it traces and compiles"),
    "input": (CauseKind.INPUT, "it waits for input"),
}


def cause(seen: Observations) -> Cause | None:
    """The first that is proven."""
    rules: tuple[Callable[[Observations], Cause | None], ...] = (
        _stopped, _preempted, _pausing, _throttled, _memory, _compile, _input, _cpu, _by_stack,
        _partner, _thrashing, _hbm,
    )  # fmt: skip
    return next((verdict for rule in rules if (verdict := rule(seen)) is not None), None)


def _stopped(seen: Observations) -> Cause | None:
    """A signal."""
    return Cause(CauseKind.STOPPED, "a signal stopped the process") if seen.stopped else None


def _preempted(seen: Observations) -> Cause | None:
    """The machine was told so; maintenance that is to come slows no steps down."""
    if seen.event is None or not (seen.stalled or seen.event.final):
        return None
    return Cause(CauseKind.PREEMPTION, f"the machine is being taken away: {seen.event.text}")


def _pausing(seen: Observations) -> Cause | None:
    """It hangs in a pause that it announced itself."""
    if not seen.stalled or seen.pausing is None:
        return None
    kinds = {"evaluation": CauseKind.EVALUATION, "checkpoint": CauseKind.CHECKPOINT,
             "restore": CauseKind.CHECKPOINT}  # fmt: skip
    kind = kinds.get(seen.pausing)
    # A pause in a word of the user's own: it hangs there, but as what is not known, and the stack
    # may still tell.
    return None if kind is None else Cause(kind, f"it has not come back from its {seen.pausing}")


def _throttled(seen: Observations) -> Cause | None:
    """A chip says that it was slowed down by what accounts for the time that was lost."""
    worst = _worst(seen.chips)
    before = None if seen.chips_before is None else _worst(seen.chips_before)
    # A throttled chip is slow, and never stands still.
    if seen.stalled or worst is None:
        return None
    grown = worst.score - (before.score if before is not None else 0)
    if grown * TENTH < EXPLAINED * seen.lost:
        return None
    was = None if seen.chips_before is None else _percent(TENTH * (before.score if before else 0))
    figure = CauseFigure(f"chip {worst.where} throttled by", _percent(TENTH * worst.score), "%",
                         was, "libtpu")  # fmt: skip
    text = f"chip {worst.where} is throttled by {TENTH * worst.score:.0%} (heat or power)"
    return Cause(CauseKind.DEVICE, text, (figure,))


def _worst(chips: tuple[ChipScore, ...]) -> ChipScore | None:
    """The chip that is throttled most: in a synchronous step all others wait for it."""
    throttled = [one for one in chips if one.health == "throttling"]
    return max(throttled, key=lambda one: one.score, default=None)


def _memory(seen: Observations) -> Cause | None:
    """The host waits for memory for most of the time that was lost."""
    pressure = seen.host.memory_pressure if seen.host is not None else None
    # Pressure is a share of the wall time, and so is what was lost: so they can be held against
    # each other.
    if pressure is None or pressure < 100 * EXPLAINED * seen.lost:
        return None
    return _short(seen, FAULTS_PER_S)


def _thrashing(seen: Observations) -> Cause | None:
    """It reads back much of what it had to throw out, and nothing else has changed."""
    pressure = seen.host.memory_pressure if seen.host is not None else None
    if pressure is not None and pressure < 100 * PRESSED * seen.lost:
        return None
    return _short(seen, MANY_FAULTS_PER_S)


def _short(seen: Observations, faults_per_s: float) -> Cause | None:
    """The host swaps, or reads back what it had to throw out."""
    host, before = seen.host, seen.host_before
    # Without figures of before nothing is known to have grown: many hosts swap a little all their
    # days.
    if host is None or before is None:
        return None
    grown = (
        host.swapped_in_mib_per_s > SWAP_MIB_PER_S + 3 * before.swapped_in_mib_per_s
        or host.major_faults_per_s > faults_per_s + 3 * before.major_faults_per_s
    )
    pressed = host.memory_pressure is not None and (
        host.memory_pressure > PRESSURE + 2 * (before.memory_pressure or 0.0)
    )
    scarce = host.available_share < SCARCE < before.available_share
    if not grown or not (pressed or scarce):
        return None
    figures = (
        CauseFigure("memory that can be had", _percent(host.available_share), "%",
                    _percent(before.available_share), "psutil"),
        CauseFigure("waiting for memory", round(host.memory_pressure or 0.0, 1), "%",
                    round(before.memory_pressure or 0.0, 1), "/proc/pressure"),
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
    starved = starvation(seen)
    return None if starved is None else Cause(CauseKind.HOST_CPU, starved.text, starved.figures)


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
        CauseFigure("functions traced", len(seen.traces), "traces", None, "the framework"),
    )  # fmt: skip
    text = f"{', '.join(names[:3])} {'is' if len(names) == 1 else 'are'} traced again and again"
    return Cause(CauseKind.COMPILE, text, figures)


def _by_stack(seen: Observations) -> Cause | None:
    """What the main thread does in most of the time that was lost, and did not before."""
    if seen.main is None or seen.main.fault:
        return None
    measured = seen.now is not None and seen.now.wait_ms is not None
    for activity, (kind, text) in ACTIVITIES.items():
        # The loop's own clock measured the wait at each step, a stack only samples it. In a stall
        # no step ends, and that clock says nothing.
        if activity == "input" and measured and not seen.stalled:
            continue
        share, before = seen.main.share(activity), seen.share_before(activity)
        if share >= STANDS if seen.stalled else _in_lost_time(seen.lost, share, before):
            was = None if before is None else _percent(before)
            figure = CauseFigure(f"main thread in {activity}", _percent(share), "%", was, "py-spy")
            return Cause(kind, f"{text} in {share:.0%} of its time", (figure,))
    return None


def _in_lost_time(lost: float, share: float, before: float | None) -> bool:
    """Whether what takes a share of the time now accounts for the time that was lost."""
    if before is None or share < before + GREW:
        return False
    # The same work as before takes (1 - lost) of its old share now, for the job makes that many
    # fewer steps in the same time: what is above it came with the drop.
    return share - before * (1 - lost) >= EXPLAINED * lost


def _input(seen: Observations) -> Cause | None:
    """The wait for input grew by most of what the step grew: the input, or what starves it."""
    before, now = seen.before, seen.now
    if before is None or now is None or before.wait_ms is None or now.wait_ms is None:
        return None
    if seen.stalled or _grown(seen, lambda pace: pace.wait_ms or 0.0) < EXPLAINED:
        return None
    figures = (
        CauseFigure("waiting for input", _ms(now.wait_ms), "ms a step", _ms(before.wait_ms),
                    "the loop's own clock"),
        CauseFigure("the rest of the step", _ms(now.own_ms), "ms a step", _ms(before.own_ms),
                    "the loop's own clock"),
    )  # fmt: skip
    starved = starvation(seen)
    if starved is not None:
        text = f"{starved.text}, and the step waits for input that is made there"
        return Cause(CauseKind.HOST_CPU, text, (*starved.figures, *figures))
    return Cause(CauseKind.INPUT, "the step waits for input", (*figures, *_reading(seen)))


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
