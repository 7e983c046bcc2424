"""Devices that a run had and its profile lacks, detected from the profile itself."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from tpudiag.sources.profile.host_summary import HostSummary
from tpudiag.sources.profile.programs import MOST_DEVICES

NUMBERED = re.compile(r"device (\d{1,9})")
"""An allocator on a TPU host, by the device's number there."""
NAMED = 64
"""Up to so many lost devices are named; beyond it only their count is reported."""


def absent(summaries: Sequence[HostSummary]) -> tuple[str, ...]:
    """The lost devices: by device numbers, memories, cores and programs."""
    # The surest sign first: the others would report the same devices again.
    lost = tuple(_by_number(summaries))
    lost = lost or tuple(line for summary in summaries for line in _by_host(summary))
    count = sum(len(summary.devices) for summary in summaries)
    wanted = assigned(summaries) or 0
    # A program that runs on more devices than recorded, by less than whole hosts.
    if not lost and count and wanted > count and wanted % count:
        return (f"{wanted - count} of the {wanted} devices that its program runs on",)
    return lost


def assigned(summaries: Sequence[HostSummary]) -> int | None:
    """The devices for which the largest program that ran was compiled; None where unknown."""
    return max((s.assigned for s in summaries if s.assigned is not None), default=None)


def _by_number(summaries: Sequence[HostSummary]) -> Iterator[str]:
    """Devices that a host lacks: numbers count from 0, and all hosts of a slice have equally many.

    Where no number occurs twice, the hosts' numbers continue one another.
    """
    numbers = {summary.host: _numbers(summary) for summary in summaries}
    every = Counter(number for own in numbers.values() for number in own)
    expected = range(max(every, default=-1) + 1)
    counts_on = max(every.values(), default=0) == 1 < len(numbers)
    for host, own in numbers.items():
        if not own and expected:
            yield f"{host} (all of its devices)"
        elif not counts_on:
            yield from _named(host, [n for n in expected if n not in own])
    if counts_on:
        yield from _named("", [n for n in expected if n not in every])


def _named(host: str, lost: Sequence[int]) -> Iterator[str]:
    if len(lost) > NAMED:
        yield f"{host} ({len(lost):,} of its devices)" if host else f"{len(lost):,} devices"
    else:
        yield from (f"{host} /device:TPU:{number}".lstrip() for number in lost)


def _by_host(summary: HostSummary) -> Iterator[str]:
    """What one host lacks: a device that has an allocator, a core, the devices' programs."""
    devices, own = summary.devices, _numbers(summary)
    if not devices:
        return
    memories = {int(n[1]) for peak in summary.memory if (n := NUMBERED.fullmatch(peak.allocator))}
    # The allocator writes on the host's plane, which survives where the device's is lost.
    if len(memories) > len(devices):
        gone = sorted(memories - own) if own < memories else []
        yield from (f"{summary.host} /device:TPU:{number}" for number in gone)
        if not gone:
            yield f"{summary.host} ({len(memories) - len(devices)} of its devices)"
    cores = Counter(device.chip for device in devices if device.chip is not None)
    most = max(cores.values(), default=0)
    yield from (f"{summary.host} (a core of chip {chip})" for chip, n in cores.items() if n < most)
    yield from (
        f"{summary.host} {device.name} (its XLA Modules line)"
        for device in devices
        if device.busy_ms and not device.program_runs
    )


def _numbers(summary: HostSummary) -> set[int]:
    """The numbers of a host's devices, without those that no slice has."""
    names = (device.name.rpartition(":")[2] for device in summary.devices)
    numbers = {int(name) for name in names if name.isdecimal() and len(name) < 10}
    return {number for number in numbers if number < MOST_DEVICES}
