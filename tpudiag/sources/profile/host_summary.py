"""One host's file as a small summary, made in one pass over its planes.

A summary holds figures by step, by operation and by name, but no events: workers send it back,
and a run of any size is merged from them.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.errors import UnreadableInput
from tpudiag.signals import CallbackTime, Device, IteratorTime, MemoryPeak, TracedFunction
from tpudiag.sources.profile import locate, programs
from tpudiag.sources.profile.device_plane import TENSOR_CORE, DeviceRead, read_device
from tpudiag.sources.profile.device_waits import device_waits
from tpudiag.sources.profile.events import Clock
from tpudiag.sources.profile.functions import functions
from tpudiag.sources.profile.gpu_plane import GPU, GpuRead, read_gpu, with_gpus
from tpudiag.sources.profile.host_plane import read_host
from tpudiag.sources.profile.host_read import HostRead
from tpudiag.sources.profile.memory import peaks
from tpudiag.sources.profile.operations import OpTotals, fold
from tpudiag.sources.profile.programs import HLO_PLANE, ProgramHlo
from tpudiag.sources.profile.step_breakdown import HostSteps, placed, waits
from tpudiag.sources.profile.step_marks import host_steps
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import Plane, Space, opened, space

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

OnBytes = Callable[[int], None]
"""Called with the number of bytes that were read since the last call."""
READERS = 2
"""Devices read at a time: so many are held in memory."""
LARGE_BYTES = 1 << 20
"""A device's plane of at least this size is worth a thread."""
HOST_PLANE, CAPTURE_PLANE = "/host:CPU", "Task Environment"


@dataclass(frozen=True, kw_only=True)
class HostSummary:
    """The contents of one host's XSpace; None where its trace does not show it."""

    host: str
    file: str
    """The file's name without its ending, which distinguishes hosts of one name."""
    gpus: tuple[str, ...]
    """Its GPUs that ran something; no TPU figure comes from them."""
    drives_tpu: bool
    devices: tuple[Device, ...]
    device_spans: tuple[tuple[int, int] | None, ...]
    """First and last busy moment of each device, ps; None where it never was busy."""
    ops: OpTotals
    """Summed over all its devices."""
    runs: dict[str, tuple[int, int]]
    """Programs on the devices: how many runs, and their time in ps."""
    programs: dict[str, ProgramHlo]
    """Those whose HLO the trace holds."""
    assigned: int | None
    """The devices of all hosts that the largest of them that ran is for; None where unknown."""
    steps: HostSteps | None
    functions: tuple[TracedFunction, ...] | None
    eager_share: float | None
    eager_ops: tuple[CallbackTime, ...] | None
    callbacks: tuple[CallbackTime, ...] | None
    pipeline_callbacks: tuple[CallbackTime, ...]
    iterators: tuple[IteratorTime, ...] | None
    memory: tuple[MemoryPeak, ...]
    waits: dict[str, int]
    """The causes for which its devices wait, and how long in ps."""
    started_ns: int | None
    capture_ms: float | None
    events: int
    bytes: int
    warnings: tuple[str, ...]


@dataclass(kw_only=True)
class _Planes:
    devices: list[DeviceRead] = field(default_factory=list[DeviceRead])
    gpus: list[GpuRead] = field(default_factory=list[GpuRead])
    trace: HostRead | None = None
    times: dict[str, object] = field(default_factory=dict[str, object])
    programs: dict[str, ProgramHlo] = field(default_factory=dict[str, ProgramHlo])
    ops: OpTotals = field(default_factory=OpTotals)
    runs: dict[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    counts: Counter[str] = field(default_factory=Counter[str])

    def add(self, plane: Plane, read: DeviceRead | HostRead | GpuRead) -> None:
        """Take in one more plane; raises Damaged."""
        if isinstance(read, DeviceRead):
            self.devices.append(read)
            fold(self.ops, read.ops.values())
            for run in read.runs:
                count, ps = self.runs.get(run.name, (0, 0))
                took = int((run.ends - run.starts).sum())
                self.runs[run.name] = (count + len(run.starts), ps + took)
        elif isinstance(read, GpuRead):
            self.gpus.append(read)
        elif plane.name == HOST_PLANE:
            self.trace = read
        elif plane.name == HLO_PLANE:
            self.programs |= programs.read(plane)
        elif plane.name == CAPTURE_PLANE:
            self.times = dict(plane.stats)
        self.counts += plane.counts


def attempted(
    name: str,
    moved: OnBytes = lambda _: None,
    training: frozenset[str] = frozenset(),
    span: str | None = None,
) -> HostSummary | str:
    """The summary of one XSpace, local or behind a URL, or in one line why there is none.

    A file behind a URL is copied while it is read, in one pass. `span` requests the host's events
    of that name as steps; `training` are the functions known to train.
    """
    try:
        with locate.local(name) as file, opened(file) as (data, release):

            def done(part: memoryview) -> None:
                release(part)
                moved(len(part))

            answer = _summary(space(data, done), file, len(data), span, training)
    except UnreadableInput as error:
        return str(error)
    except Damaged as damage:
        return f"{name}: {damage}"
    except OSError as error:
        return f"{name}: {error.strerror or error}"
    return answer if answer.events else f"{name}: a profile without events: nothing was captured"


def _summary(
    whole: Space, file: Path, size: int, span: str | None, training: frozenset[str]
) -> HostSummary:
    stem = file.name.removesuffix(locate.ENDING)
    host = whole.hostnames[0] if whole.hostnames else stem
    planes = _Planes()
    clock = Clock()
    for plane, read in _read(whole.planes(), span, clock):
        planes.add(plane, read)
    trace, devices = with_gpus(planes.trace, planes.gpus) or HostRead(), planes.devices
    first, last = trace.spans_ps or (0, 0)
    times = map(planes.times.get, ("profile_start_time", "profile_stop_time"))
    started, stopped = (at if isinstance(at, int) and at > 0 else None for at in times)
    ran = (hlo for name, hlo in planes.programs.items() if name in planes.runs)
    return HostSummary(
        host=host,
        file=stem,
        gpus=tuple(gpu.name for gpu in planes.gpus if gpu.busy),
        drives_tpu=trace.drives_tpu,
        devices=tuple(device.device(host) for device in devices),
        device_spans=tuple(
            (int(d.busy.starts[0]), int(d.busy.ends[-1])) if d.busy else None for d in devices
        ),
        ops=planes.ops,
        runs=planes.runs,
        programs=planes.programs,
        assigned=max([hlo.devices for hlo in ran if hlo.devices], default=None),
        steps=placed(host_steps(trace, devices, span, host, training), clock),
        functions=functions(trace.calls) if trace.calls else None,
        eager_share=trace.eager.total / (last - first) if trace.python_seen and last else None,
        eager_ops=trace.eager_ops if trace.python_seen else None,
        # Not an empty tuple: TPU105 may pass only where a callback would have shown.
        callbacks=trace.callbacks if trace.executes or trace.callbacks else None,
        pipeline_callbacks=trace.pipeline_callbacks,
        iterators=tuple(trace.iterators.times(waits(trace, devices)))
        if trace.iterators.sums
        else None,
        memory=tuple(peaks(trace.memory, host)),
        waits=device_waits(trace, devices),
        started_ns=started,
        capture_ms=(stopped - started) / 1e6 if started and stopped else None,
        events=planes.counts["events"],
        bytes=size,
        warnings=(
            *dict.fromkeys((*whole.errors, *whole.warnings)),
            *_not_understood(file, planes, len(whole.repeated)),
        ),
    )


def _read(
    planes: Iterable[Plane], span: str | None, clock: Clock
) -> Iterator[tuple[Plane, DeviceRead | HostRead | GpuRead]]:
    """The planes in their order; large devices two at a time, since numpy releases the lock.

    Raises Damaged.
    """
    ahead: deque[tuple[Plane, Future[DeviceRead]]] = deque()
    pool: ThreadPoolExecutor | None = None
    with ExitStack() as stack:
        for plane in planes:
            clock.begin(plane.lines())
            device = TENSOR_CORE.fullmatch(plane.name) is not None
            large = device and plane.size > LARGE_BYTES
            # In order, so that reading a file twice gives an identical report.
            while ahead and (len(ahead) == READERS or not large):
                before, future = ahead.popleft()
                yield before, future.result()
            if GPU.fullmatch(plane.name):
                yield plane, read_gpu(plane, clock)
            elif large:
                # Small profiles do not import the pool.
                from concurrent.futures import ThreadPoolExecutor

                pool = pool or stack.enter_context(ThreadPoolExecutor(READERS))
                ahead.append((plane, pool.submit(read_device, plane, clock)))
            else:
                yield plane, read_device(plane, clock) if device else read_host(plane, span, clock)
        yield from ((before, future.result()) for before, future in ahead)


def _not_understood(file: Path, planes: _Planes, repeated: int) -> Iterator[str]:
    """Notes on parts of the file that were not understood, which must not be dropped silently."""
    if strangers := planes.counts["strangers"]:
        yield f"{file.name}: {strangers:,} events without metadata were left out"
    if size := planes.counts["unknown_bytes"]:
        yield f"{file.name}: {size:,} bytes in fields that this reader does not know"
    if repeated:
        yield (
            f"{file.name}: {repeated} plane{'s' * (repeated > 1)} stand in it twice, byte by byte "
            "(was it appended to itself?); each is counted once"
        )
