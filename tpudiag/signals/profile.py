"""The content of a profile: devices, their steps and operations, memory, input, hosts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tpudiag.compiled import HbmTensor
from tpudiag.model import Location
from tpudiag.records import dataclass
from tpudiag.signals.profile_hosts import (
    CallbackTime,
    DeviceWait,
    HostClock,
    IteratorTime,
    UnreadHost,
)
from tpudiag.signals.step import MatrixOp, TracedFunction
from tpudiag.signals.throughput import warm_up

UNTOLD = "not measured"
"""The part of a step in which a program ran whose operations the trace lost."""
WHOLE_TRACE = 0.9
"""Operations cover more of their programs' time than this (99.85 % on a real v6e) in a trace that
lost none; where they cover less, what the rest of that time went into is not known."""


@dataclass(frozen=True, kw_only=True)
class Device:
    """One TPU core of a profile: what it is, its peaks per chip, and how it spent the window.

    The window reaches from the start of the device's first module or marked step to the end of
    its last; for a device that ran none while others did, from the first to the last of theirs.
    """

    host: str
    name: str
    kind: str
    peak_tflops: float | None
    peak_hbm_gb_per_s: float | None
    busy_ms: float
    window_ms: float
    chip: int | None = None
    """The number of its chip in the slice; two cores of a v5p share one."""
    ops_share: float | None = None
    """Share of its programs' time that traced operations cover; None where no program ran."""
    program_runs: int = 0
    """Runs of the program that ran longest."""

    @property
    def lost_operations(self) -> bool:
        """Whether programs ran whose operations the trace does not hold."""
        return self.ops_share is not None and self.ops_share < WHOLE_TRACE

    @property
    def idle_share(self) -> float:
        """Share of the window in which no module ran, 0 to 1; 1 where none ran at all."""
        return 1 - self.busy_ms / self.window_ms if self.window_ms else 1.0


def common_peaks(devices: Sequence[Device]) -> tuple[float | None, float | None]:
    """TFLOP/s and HBM GB/s of each device; None where unknown, or for devices of two kinds."""
    peaks = {(device.peak_tflops, device.peak_hbm_gb_per_s) for device in devices}
    return peaks.pop() if len(peaks) == 1 else (None, None)


@dataclass(frozen=True, kw_only=True)
class DeviceOp:
    """An operation on the devices of a profile; all figures summed over its occurrences."""

    name: str
    category: str
    self_ms: float
    share: float
    """The share of all devices' busy time, 0 to 1."""
    count: int
    flops: int | None = None
    bytes_accessed: int | None = None
    total_ms: float | None = None
    """Including nested operations; rates are over this time."""
    hbm_bytes: int | None = None
    """The part of bytes_accessed that moves from or to the HBM."""
    gflop_per_s: float | None = None
    hbm_gb_per_s: float | None = None
    bound_by: str | None = None
    """Side of the roofline: compute, memory or input."""
    in_16_bit: bool | None = None
    """Whether a matrix operation reads floats of 16 bits, or any of 8; None for others."""
    uncosted: bool = False
    """Whether it is a custom kernel without known FLOPs and bytes."""
    framework_op: str = ""
    location: Location | None = None
    holds_others: bool = False
    """Loops and calls: their FLOPs and bytes are those of their contents."""
    part: str | None = None
    """`collectives`, `host memory`, `infeed` or `output`; None for one that computes."""
    program: str = ""
    """The program's number."""
    group: str = ""
    """The operation that it duplicates, or its own name."""
    repeated: bool = False
    """Whether it recomputes an earlier result: rematerialisation, checkpointing."""
    estimated_cycles: int | None = None
    """The compiler's estimate for one run."""


@dataclass(frozen=True)
class StepPart:
    """One part of each step, e.g. `compute` or `idle`, in ms."""

    name: str
    ms: tuple[float, ...]


@dataclass(frozen=True)
class ReplicaSteps:
    """The steps of one replica (a device, or a host without one); the parts add up to the step."""

    host: str
    replica: str
    numbers: tuple[int, ...]
    step_ms: tuple[float, ...]
    parts: tuple[StepPart, ...]
    starts_ms: tuple[float, ...] | None = None
    """When each began, in the trace viewer's time; None where the trace does not hold it."""

    @property
    def steady(self) -> ReplicaSteps:
        """The same without warm-up, the basis of shares of the step time."""
        first = warm_up(self.step_ms)
        return self._chosen(range(first, len(self.step_ms))) if first else self

    @property
    def recorded(self) -> ReplicaSteps:
        """The same without steps whose operations the trace lost, if it holds others."""
        lost = next((part.ms for part in self.parts if part.name == UNTOLD), None)
        if lost is None:
            return self
        limit = 1 - WHOLE_TRACE
        kept = [i for i, ms in enumerate(self.step_ms) if lost[i] < limit * ms]
        return self._chosen(kept) if kept else self

    def _chosen(self, kept: Sequence[int]) -> ReplicaSteps:
        starts = self.starts_ms
        return replace(
            self,
            numbers=tuple(self.numbers[i] for i in kept),
            step_ms=tuple(self.step_ms[i] for i in kept),
            parts=tuple(replace(part, ms=tuple(part.ms[i] for i in kept)) for part in self.parts),
            starts_ms=None if starts is None else tuple(starts[i] for i in kept),
        )

    def part(self, *names: str) -> float:
        """The time of all steps in the named parts, ms; 0 without any."""
        return sum(sum(part.ms) for part in self.parts if part.name in names)

    def mean_ms(self, *without: str) -> float:
        """The mean step, without the named parts: collectives, in which the fast ones wait."""
        return (sum(self.step_ms) - self.part(*without)) / max(len(self.step_ms), 1)


@dataclass(frozen=True, kw_only=True)
class MemoryPeak:
    """The peak memory of one allocator of a host during the capture, and its holders."""

    host: str
    allocator: str
    peak_bytes: int
    capacity_bytes: int | None
    """The most since the process began, by the allocator's own count (without programs' stacks)."""
    held_by: tuple[tuple[str, int], ...]
    """The largest holders at the peak, and their bytes."""
    at_ms: float
    fragmentation: float | None = None
    """At the peak: 1 minus the largest free piece over all free memory."""
    timeline: tuple[tuple[float, int], ...] = ()
    """Samples of time (ms) and memory held (bytes); the fullest ones of many."""

    @property
    def of_host(self) -> bool:
        """Whether it is host memory (`cpu`, `mklcpu`, `host_bfc`), not HBM."""
        return any(word in self.allocator.lower() for word in ("cpu", "host"))


@dataclass(frozen=True, kw_only=True)
class ProfileFacts:
    """The contents of a TensorBoard profile; None where the trace does not show it."""

    hosts: tuple[str, ...]
    devices: tuple[Device, ...]
    ops: tuple[DeviceOp, ...]
    bytes_read: int
    warnings: tuple[str, ...] = ()
    """The profiler's warnings, and parts of the file that were not understood."""
    started_ns: int | None = None
    """When the capture began, in ns since the epoch; the first host's where there are several."""
    capture_ms: float | None = None
    """How long the capture took, idle or not."""
    replicas: tuple[ReplicaSteps, ...] = ()
    runs: tuple[tuple[str, int, float], ...] = ()
    """Programs on the devices: name, runs and ms a run; those that ran longest first."""
    functions: tuple[TracedFunction, ...] | None = None
    eager_share: float | None = None
    """Share of the host's trace spent in ops that ran eagerly from Python, 0 to 1."""
    eager_ops: tuple[CallbackTime, ...] | None = None
    """Ops that ran eagerly from Python, those that make a tf.data pipeline among them."""
    callbacks: tuple[CallbackTime, ...] | None = None
    pipeline_callbacks: tuple[CallbackTime, ...] = ()
    """Calls back to the host's Python from tf.data's threads; no part of the step."""
    iterators: tuple[IteratorTime, ...] | None = None
    blockers: tuple[IteratorTime, ...] = ()
    """Of each host whose trace shows one the op that its loop waited for, longest wait first."""
    memory: tuple[MemoryPeak, ...] | None = None
    padded: tuple[HbmTensor, ...] | None = None
    mxu_share: float | None = None
    """FLOPs of all operations over what the chips could do in their busy time, 0 to 1."""
    hbm_share: float | None = None
    """HBM traffic of all operations over the peak bandwidth in their busy time, 0 to 1."""
    uncosted_share: float = 0.0
    """The busy time's share of operations that both shares above miss (Pallas kernels)."""
    share_16_bit: float | None = None
    """Of the FLOPs of matrix operations (of their time where FLOPs are not known), 0 to 1."""
    matrix_ops: tuple[MatrixOp, ...] | None = None
    """Products of the program that ran longest, from its HLO; a replica's share of the batch."""
    unread: tuple[UnreadHost, ...] = ()
    clocks: tuple[HostClock, ...] = ()
    waits: tuple[DeviceWait, ...] = ()
    """The longest first."""
    gpus: int = 0
    """GPUs that ran something, of which no figure here is."""
    devices_missing: bool = False
    """Whether a host runs programs on a TPU and the profile holds no device."""
    assigned_devices: int | None = None
    """The devices of all hosts that the largest program runs on; None where unknown."""
    absent_devices: tuple[str, ...] = ()
    """Missing devices, known from gaps in the numbers or from other hosts."""
    steps_differ: bool = False
    """Whether what marks a step is not the same on all hosts, or is missing on some."""

    @property
    def window_ms(self) -> float:
        """Of all devices together; `busy_ms` likewise."""
        return sum(device.window_ms for device in self.devices)

    @property
    def busy_ms(self) -> float:
        """Of all devices together, in which a module ran."""
        return sum(device.busy_ms for device in self.devices)

    @property
    def part_names(self) -> tuple[str, ...]:
        """The parts that steps of any replica have."""
        return tuple(dict.fromkeys(part.name for r in self.replicas for part in r.parts))

    @property
    def half_traced(self) -> tuple[Device, ...]:
        """Devices on which programs ran whose operations the trace does not hold."""
        return tuple(device for device in self.devices if device.lost_operations)

    @property
    def memory_in_order(self) -> tuple[MemoryPeak, ...]:
        """The peaks of devices before those of hosts, the highest first."""
        return tuple(sorted(self.memory or (), key=lambda m: (m.of_host, -m.peak_bytes)))

    @property
    def source(self) -> str:
        """`profile`, and which hosts its figures lack."""
        if not self.unread:
            return "profile"
        names = [host.name for host in self.unread]
        lost = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"profile without {lost} (unreadable)"
