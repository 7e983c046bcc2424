"""The data of a report's plots: steps, their parts, replicas and memory over time."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from tpudiag.diagnoses.profile_operations import roofline
from tpudiag.report_figures import Series, SeriesKind
from tpudiag.signals import ProfileFacts, ReplicaSteps, Signals, StepTimes

STEPS = 4000
"""The most steps of a line."""
CELLS = 200
"""The most steps of a heat map's row."""
ROWS = 64
"""The most rows of the heat map, slowest first."""
ALLOCATORS = 8
DIGITS = 5
COLLECTIVES = "collectives"


def of(signals: Signals) -> tuple[Series, ...]:
    """All series that the signals hold."""
    return tuple(_found(signals))


def _found(signals: Signals) -> Iterator[Series]:
    facts, steps = signals.profile, signals.steps
    if steps is not None and steps.step_ms:
        numbers = _numbers(steps, facts)
        yield _line("step_time", "step time", numbers, steps.step_ms, steps.source)
        # The parts by replica include the wait already.
        if facts is None or not facts.replicas:
            yield from _wait(steps, numbers)
    if facts is not None:
        yield from _parts(facts)
        if len(facts.replicas) > 1:
            own = [(replica, _own(replica)) for replica in facts.replicas if replica.step_ms]
            kept = sorted(own, key=lambda item: -sum(item[1]) / len(item[1]))[:ROWS]
            source = facts.source + f", the slowest {ROWS}" * (len(kept) < len(own))
            for replica, ms in sorted(kept, key=lambda item: (item[0].host, item[0].replica)):
                name = f"{replica.host} {replica.replica}"
                yield _line("replica_step", name, replica.numbers, ms, source, most=CELLS)
        yield from _memory(facts)
        yield from roofline(facts)


def _numbers(steps: StepTimes, facts: ProfileFacts | None) -> tuple[int, ...]:
    """The steps' own numbers, or else counted from 0."""
    for replica in facts.replicas if facts else ():
        if len(replica.numbers) == len(steps.step_ms):
            return replica.numbers
    return tuple(range(len(steps.step_ms)))


def _wait(steps: StepTimes, numbers: Sequence[int]) -> Iterator[Series]:
    """The wait for input and the rest, where nothing more detailed is known."""
    if steps.input_wait_ms is None or len(steps.input_wait_ms) != len(steps.step_ms):
        return
    source = steps.input_wait_source or steps.source
    rest = [max(s - w, 0.0) for s, w in zip(steps.step_ms, steps.input_wait_ms, strict=True)]
    yield _line("step_part", "input wait", numbers, steps.input_wait_ms, source)
    yield _line("step_part", "rest of the step", numbers, rest, source)


def _parts(facts: ProfileFacts) -> Iterator[Series]:
    """Each part of the step, averaged over the replicas that ran it."""
    sums: dict[str, defaultdict[int, float]] = {}
    ran: defaultdict[int, int] = defaultdict(int)
    for replica in facts.replicas:
        for number in replica.numbers:
            ran[number] += 1
        for part in replica.parts:
            by_step = sums.setdefault(part.name, defaultdict(float))
            for number, ms in zip(replica.numbers, part.ms, strict=False):
                by_step[number] += ms
    numbers = sorted(ran)
    source = f"{facts.source}, mean of the replicas"
    for name, sum_ms in sums.items():
        if any(sum_ms.values()):
            # Averaged over those that ran it: at a capture's edges some replicas lack a step of
            # others.
            means = [sum_ms[number] / ran[number] for number in numbers]
            yield _line("step_part", name, numbers, means, source)


def _own(replica: ReplicaSteps) -> list[float]:
    """Each step without collectives, in which the replica waits for the others."""
    waits = next((p.ms for p in replica.parts if p.name == COLLECTIVES), ())
    padded = (*waits, *([0.0] * (len(replica.step_ms) - len(waits))))
    return [max(ms - wait, 0.0) for ms, wait in zip(replica.step_ms, padded, strict=False)]


def _memory(facts: ProfileFacts) -> Iterator[Series]:
    """Each allocator's memory over time, against its capacity; the fullest where there are many."""
    for peak in facts.memory_in_order[:ALLOCATORS]:
        if peak.timeline:
            times, sizes = zip(*peak.timeline, strict=True)
            yield Series(
                kind="memory",
                name=f"{peak.host} {peak.allocator}",
                x_unit="ms",
                unit="bytes",
                x=tuple(round(ms, DIGITS) for ms in times),
                y=sizes,
                source=f"{facts.source}, allocation events",
                limit=peak.capacity_bytes,
            )


def _line(
    kind: SeriesKind,
    name: str,
    numbers: Sequence[int],
    ms: Sequence[float],
    source: str,
    *,
    most: int = STEPS,
) -> Series:
    """A series over steps, sampled where there are too many, as its source notes."""
    stride = -(-len(ms) // most) or 1
    words = source if stride == 1 else f"{source}, one of {stride} steps"
    x = tuple(float(number) for number in numbers[::stride])
    y = tuple(round(value, DIGITS) for value in ms[::stride])
    return Series(kind=kind, name=name, x_unit="step", unit="ms", x=x, y=y, source=words)
