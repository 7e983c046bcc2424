"""The time of an instruction's work on a generation: a range, and its bound.

Every figure here was compared with published step times and profiles of real TPUs
(tests/benchmarks/bench_predicted.py); none is a measurement of the user's program.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from enum import Enum
from math import sqrt

from tpudiag.hardware import Generation
from tpudiag.prediction.work import Kind, Work
from tpudiag.records import dataclass

MXU_EFFICIENCY = 0.87
"""Share of the peak in products of unknown cycles: 163 ms of a real v5p training step."""
HBM_EFFICIENCY = 0.80
"""Share of the bandwidth that the compiler assumes: elementwise loops and broadcasts on real v5p
and v6e devices reached 0.72 to 0.84."""
HBM_WORST = 0.6
FARTHEST = 1.6
"""The largest ratio of an instruction's time to its estimate that was seen."""
STRIDED = 28.0
"""The slowdown of bytes written in partial tiles (350 to 390 us for 14.7 MB)."""
HIDDEN = 0.3
"""The exposed share of a collective that was started ahead; at worst all of it."""
KERNEL = 0.7, 1.7, 3.5
"""A custom kernel's time relative to its roofline: attention reaches 30 to 70 % of it."""
SMALLEST_US = 0.2, 0.8, 2.0
"""The least time of any non-scalar instruction: best, typical, worst."""
LINKS_WORST = 0.4
"""Share of one link's rate: an all-reduce over pairs of v6e reached 0.49 of it."""


class Bound(Enum):
    """What an instruction waits for."""

    MXU = "MXU"
    HBM = "HBM"
    VECTOR = "vector unit"
    ICI = "ICI"
    DISPATCH = "dispatch"
    HOST_INPUT = "host input"


@dataclass(frozen=True)
class Range:
    """An estimate and the ends between which it is believed to lie."""

    low: float
    value: float
    high: float

    def __iter__(self) -> Iterator[float]:
        yield from (self.low, self.value, self.high)

    def __add__(self, other: Range) -> Range:
        return Range(*map(operator.add, self, other))

    def __mul__(self, factor: float) -> Range:
        return Range(*(each * factor for each in self))


NONE = Range(0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Timed:
    """One instruction with its time in a step, loops unrolled."""

    work: Work
    ms: Range
    bound: Bound


def timed(work: Work, generation: Generation, whole_slice: int) -> Timed:
    """The time of one instruction in a step on a slice of so many devices."""
    if work.kind is Kind.COLLECTIVE:
        once, bound = _collective_ms(work, generation, whole_slice), Bound.ICI
        if work.flops:
            # Products inside the same instruction: both run at once, the longer one lasts.
            device, own = _device_ms(work, generation)
            bound = bound if once.value > device.value else own
            once = Range(*map(max, once, device))
    elif work.kind is Kind.PREFETCH:
        bandwidth = generation.compiler_hbm_gb_per_s_per_device * 1e6
        once, bound = Range(0.0, 0.0, work.hbm_bytes / bandwidth), Bound.HBM
    else:
        once, bound = _device_ms(work, generation)
        # No instruction takes nothing, but those on scalars.
        if work.counts:
            once = Range(*map(max, once, (us / 1e3 for us in SMALLEST_US)))
    return Timed(work, once * work.trips, bound)


def _device_ms(work: Work, generation: Generation) -> tuple[Range, Bound]:
    """Roof and cycles: the time lies between them, nearer to the roof the more they differ."""
    bandwidth = generation.compiler_hbm_gb_per_s_per_device * 1e6
    mxu = work.flops / generation.peak_flops_per_device * 1e3
    hbm = work.hbm_bytes / bandwidth
    cut = work.strided_bytes * (STRIDED - 1) / bandwidth
    roof = max(mxu, hbm)
    bound = Bound.MXU if mxu > hbm else Bound.HBM if hbm else Bound.VECTOR
    if work.kind is Kind.CUSTOM:
        # A kernel's insides are not in the program, and the compiler gives no cycles for it.
        return Range(*(roof * times for times in KERNEL)), bound
    if work.cycles is None or work.kind is Kind.MOVE or work.strided_bytes:
        value = max(mxu / MXU_EFFICIENCY, hbm / HBM_EFFICIENCY)
        worst = max(mxu / MXU_EFFICIENCY**2, hbm / HBM_WORST)
        return Range(roof + cut / 2, value + cut, worst + 1.3 * cut), bound
    cycles = work.cycles / generation.clock_mhz / 1e3
    if cycles <= roof:
        return Range(roof, max(mxu, min(hbm / HBM_EFFICIENCY, roof * 1.1)), roof * 1.25), bound
    weight = generation.cycles_weight
    # Between both, on a logarithmic scale, since they may differ by several times.
    value = roof ** (1 - weight) * cycles**weight if roof else cycles
    return Range(roof, value, min(cycles, max(value, roof) * FARTHEST)), bound


def _collective_ms(work: Work, generation: Generation, whole_slice: int) -> Range:
    """Bytes over links: at best over both ways of each axis, at worst over half of one link.

    Rings along the axes of the torus; a group smaller than the slice lies along one axis.
    """
    members = work.members
    if members < 2 or not work.link_bytes:
        return NONE
    # Only a group of all devices has every axis of the torus to itself.
    axes = generation.torus_axes if members >= whole_slice and members > 4 else 1
    moved = work.link_bytes * _passes(work.collective, members)
    per_ms = generation.link_gb_per_s * 1e6
    best, likely = 2 * axes * per_ms, sqrt(2 * LINKS_WORST) * axes * per_ms
    serial = Range(moved / best, moved / likely, moved / (LINKS_WORST * per_ms))
    # Started ahead it costs nothing where enough work lies between; at worst nothing does.
    return Range(0.0, HIDDEN * serial.value, serial.high) if work.hidden else serial


def _passes(collective: str, members: int) -> float:
    """How often what one device gives into a collective crosses its links."""
    share = (members - 1) / members
    return {
        "all-reduce": 2 * share,
        "reduce-scatter": share,
        # What one device gives is its own shard, which goes to all others; an all-reduce is given
        # whole.
        "all-gather": members - 1,
        "all-to-all": share / 2,
        "ragged-all-to-all": share / 2,
    }.get(collective, 1.0)
