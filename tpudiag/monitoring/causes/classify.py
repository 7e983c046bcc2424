"""Classifies the cause of a drop or a stall from observations; None where the figures prove none.

A cause must account for most of the lost time, by a figure that grew since before. Causes that
make others look guilty come first: a host short of memory starves the input, too.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from tpudiag.monitoring.causes.observations import EXPLAINED, Observations, Pace
from tpudiag.monitoring.causes.stacks import Activity
from tpudiag.monitoring.causes.starvation import starvation
from tpudiag.signals.causes import Cause, CauseFigure, CauseKind
from tpudiag.sources.live.tpu_monitoring import ChipScore

PRESSURE, SWAP_MIB_PER_S, SCARCE = 10.0, 1.0, 0.05
FAULTS_PER_S, MANY_FAULTS_PER_S = 5.0, 15.0
"""Pages read back per second: with memory waits that explain the lost time, and without."""
PRESSED = 0.12
"""The least share of the lost time spent waiting for memory; reading pages back shows as
computing and disk waits otherwise."""
HBM_FULL = 0.97
TENTH = 0.1
"""A unit of libtpu's throttle score, as a share of a chip's speed."""
STANDS = 0.6
"""The share of a stall's samples in which one activity must go on."""
GREW = 0.15
"""By how much its share of the samples must have grown in a drop."""
ACTIVITIES: dict[Activity, tuple[CauseKind, str]] = {
    "evaluation": (CauseKind.EVALUATION, "it evaluates"),
    "checkpoint": (CauseKind.CHECKPOINT, "it keeps or reads checkpoints"),
    "compile": (CauseKind.COMPILE, "it traces and compiles"),
    "input": (CauseKind.INPUT, "it waits for input"),
}


def cause(seen: Observations) -> Cause | None:
    """The first cause that is proven."""
    rules: tuple[Callable[[Observations], Cause | None], ...] = (
        _stopped, _preempted, _pausing, _throttled, _memory, _compile, _input, starvation,
        _by_stack,
        _partner, _thrashing, _hbm,
    )  # fmt: skip
    return next((verdict for rule in rules if (verdict := rule(seen)) is not None), None)


def _stopped(seen: Observations) -> Cause | None:
    return Cause(CauseKind.STOPPED, "a signal stopped the process") if seen.stopped else None


def _preempted(seen: Observations) -> Cause | None:
    # Announced maintenance does not slow down steps yet.
    if seen.event is None or not (seen.stalled or seen.event.final):
        return None
    return Cause(CauseKind.PREEMPTION, f"the machine is being taken away: {seen.event.text}")


def _pausing(seen: Observations) -> Cause | None:
    """Hangs in a pause that the job announced."""
    if not seen.stalled or seen.pausing is None:
        return None
    kinds = {"evaluation": CauseKind.EVALUATION, "checkpoint": CauseKind.CHECKPOINT,
             "restore": CauseKind.CHECKPOINT}  # fmt: skip
    kind = kinds.get(seen.pausing)
    # In a pause with a name of the user's own it hangs for an unknown reason: the stack may show
    # it.
    return None if kind is None else Cause(kind, f"it has not come back from its {seen.pausing}")


def _throttled(seen: Observations) -> Cause | None:
    """Throttled chips account for the lost time."""
    worst = _worst(seen.chips)
    before = None if seen.chips_before is None else _worst(seen.chips_before)
    # A throttled chip is slow, but never stands still.
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
    """The most throttled chip: in a synchronous step all others wait for it."""
    throttled = [one for one in chips if one.health == "throttling"]
    return max(throttled, key=lambda one: one.score, default=None)


def _memory(seen: Observations) -> Cause | None:
    """The host spent most of the lost time waiting for memory."""
    pressure = seen.host.memory_pressure if seen.host is not None else None
    # Pressure and lost time are both shares of the wall time, so they can be compared.
    if pressure is None or pressure < 100 * EXPLAINED * seen.lost:
        return None
    return _short(seen, FAULTS_PER_S)


def _thrashing(seen: Observations) -> Cause | None:
    """The job reads back much of its evicted memory, and nothing else has changed."""
    pressure = seen.host.memory_pressure if seen.host is not None else None
    if pressure is not None and pressure < 100 * PRESSED * seen.lost:
        return None
    return _short(seen, MANY_FAULTS_PER_S)


def _short(seen: Observations, faults_per_s: float) -> Cause | None:
    """The host swaps, or reads back evicted pages."""
    host, before = seen.host, seen.host_before
    # Without earlier figures growth is unknown: many hosts always swap a little.
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


def _compile(seen: Observations) -> Cause | None:
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
    """What the main thread did in most of the lost time, but not before."""
    if seen.main is None or seen.main.fault:
        return None
    measured = seen.now is not None and seen.now.wait_ms is not None
    for activity, (kind, text) in ACTIVITIES.items():
        # The loop's own clock measured the wait at each step, stacks only sample it. In a stall no
        # step ends, so that clock shows nothing.
        if activity == "input" and measured and not seen.stalled:
            continue
        share, before = seen.main.share(activity), seen.share_before(activity)
        if share >= STANDS if seen.stalled else _in_lost_time(seen.lost, share, before):
            was = None if before is None else _percent(before)
            figure = CauseFigure(f"main thread in {activity}", _percent(share), "%", was, "py-spy")
            return Cause(kind, f"{text} in {share:.0%} of its time", (figure,))
    return None


def _in_lost_time(lost: float, share: float, before: float | None) -> bool:
    """Whether an activity's share of the time now accounts for the lost time."""
    if before is None or share < before + GREW:
        return False
    # The same work as before takes (1 - lost) of its old share, since the job makes fewer steps in
    # the same time: any excess came with the drop.
    return share - before * (1 - lost) >= EXPLAINED * lost


def _input(seen: Observations) -> Cause | None:
    """The wait for input grew by most of the step's growth."""
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
        return replace(starved, text=text, figures=(*starved.figures, *figures))
    return Cause(CauseKind.INPUT, "the step waits for input", (*figures, *_reading(seen)))


def _reading(seen: Observations) -> Iterator[CauseFigure]:
    if seen.host is not None and seen.host_before is not None:
        yield CauseFigure("read from disk", round(seen.host.read_mib_per_s, 1), "MiB/s",
                          round(seen.host_before.read_mib_per_s, 1), "psutil")  # fmt: skip
        yield CauseFigure("received", round(seen.host.received_mib_per_s, 1), "MiB/s",
                          round(seen.host_before.received_mib_per_s, 1), "psutil")  # fmt: skip


def _partner(seen: Observations) -> Cause | None:
    if seen.partner is None:
        return None
    worker, line = seen.partner
    return Cause(CauseKind.PARTNER, f"the others wait for {worker}, which is at {line}")


def _hbm(seen: Observations) -> Cause | None:
    before, now, limit = seen.before, seen.now, seen.hbm_limit_bytes
    if before is None or now is None or not limit or not now.hbm_bytes or not before.hbm_bytes:
        return None
    if not before.hbm_bytes < 0.9 * limit or not now.hbm_bytes > HBM_FULL * limit:
        return None
    figure = CauseFigure("HBM in use", _percent(now.hbm_bytes / limit), "%",
                         _percent(before.hbm_bytes / limit), "TensorFlow")  # fmt: skip
    return Cause(CauseKind.HBM, "HBM has filled up", (figure,))


def _grown(seen: Observations, part: Callable[[Pace], float]) -> float:
    """The part's growth as a share of the step's growth."""
    assert seen.before is not None
    assert seen.now is not None
    whole = seen.now.step_ms - seen.before.step_ms
    return (part(seen.now) - part(seen.before)) / whole if whole > 0 else 0.0


def _percent(share: float) -> float:
    return round(100 * share, 1)


def _ms(value: float) -> float:
    return round(value, 2)
