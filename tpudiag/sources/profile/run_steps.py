"""The steps of a run from those of its hosts: as long as on the slowest replica."""

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from tpudiag.signals import ReplicaSteps, StepTimes
from tpudiag.signals.profile import UNTOLD
from tpudiag.sources.profile.op_kinds import COLLECTIVES
from tpudiag.sources.profile.step_breakdown import INPUT, STEPS_LINE, HostSteps


def step_times(hosts: Sequence[HostSteps], suffix: str = "") -> StepTimes | None:
    """The steps of all hosts, matched by number; each lasts as long as where it took longest.

    Its input wait is that of the replica that the others waited for: the one whose own work (all
    but the collectives, in which the fast wait for the slow) took longest.
    """
    if not hosts:
        return None
    knows = all(host.wait_source for host in hosts)
    replicas = [replica for host in hosts for replica in host.replicas]
    slowest = _slowest(replicas, knows)
    if not slowest:
        return None
    steps = [step for _, step in sorted(slowest.items())]
    whose = " of the replica that the others wait for" if len(replicas) > 1 else ""
    unrecorded = tuple(step.unrecorded for step in steps)
    return StepTimes(
        step_ms=tuple(step.longest for step in steps),
        input_wait_ms=tuple(step.wait for step in steps) if knows else None,
        source=_sources(hosts) + suffix,
        recovered=any(host.recovered for host in hosts),
        input_wait_source=f"{hosts[0].wait_source}{whose}" if knows else None,
        untold_ms=unrecorded if any(unrecorded) else None,
    )


class _Step(NamedTuple):
    """A step of the slowest replica, ms; `longest` is the longest of any replica."""

    own: float
    wait: float
    unrecorded: float
    longest: float


def _slowest(replicas: Sequence[ReplicaSteps], knows: bool) -> dict[tuple[int, int], _Step]:
    """The slowest replica's steps, by number (and by epoch, where numbers start again)."""
    slowest: dict[tuple[int, int], _Step] = {}
    on: Counter[tuple[int, int]] = Counter()
    for replica in replicas:
        waits = _summed(replica, INPUT) if knows else [0.0] * len(replica.numbers)
        others, unrecorded = _summed(replica, (COLLECTIVES,)), _summed(replica, (UNTOLD,))
        seen: Counter[int] = Counter()
        for number, ms, wait, other, lost in zip(
            replica.numbers, replica.step_ms, waits, others, unrecorded, strict=True
        ):
            # Loops that count from 0 in each epoch repeat numbers: the count of earlier ones
            # separates them.
            key = (seen[number], number)
            seen[number] += 1
            on[key] += 1
            # Time that the trace lost does not show that others waited for this replica.
            step = _Step(ms - other - lost, wait, lost, ms)
            known = slowest.get(key)
            if known is None or (step > known and ms >= known.longest):
                slowest[key] = step
            elif step > known or ms > known.longest:
                slowest[key] = max(known, step)._replace(longest=max(known.longest, ms))
    # Without the first and last that not every replica recorded (XProf's intersection).
    order = sorted(slowest)
    whole = [place for place, key in enumerate(order) if on[key] >= len(replicas)]
    return {key: slowest[key] for key in order[whole[0] : whole[-1] + 1]} if whole else slowest


def _sources(hosts: Sequence[HostSteps]) -> str:
    """What marks the steps of a run, with the number of devices where these do."""
    count = sum(len(host.replicas) for host in hosts if host.source == STEPS_LINE)
    line = f"{STEPS_LINE} of {count:,} device{'s' * (count > 1)}"
    names = {line if host.source == STEPS_LINE else host.source for host in hosts}
    return " and ".join(sorted(names))


def _summed(replica: ReplicaSteps, names: Sequence[str]) -> list[float]:
    columns = [part.ms for part in replica.parts if part.name in names]
    return [sum(ms) for ms in zip(*columns, strict=True)] or [0.0] * len(replica.numbers)
