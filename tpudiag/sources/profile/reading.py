"""From the files of a run to signals: one pass over each host's planes, then a merge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import UnreadableInput
from tpudiag.signals import ProfileFacts, StepTimes
from tpudiag.sources.profile import locate
from tpudiag.sources.profile.devices import (
    TENSOR_CORE,
    DeviceRead,
    device_ops,
    read_device,
    with_windows,
)
from tpudiag.sources.profile.host import HostRead, read_host
from tpudiag.sources.profile.steps import HostSteps, device_steps, host_steps, merged
from tpudiag.sources.profile.wire import Damaged
from tpudiag.sources.profile.xspace import Space, opened, space

HOST_PLANE, CAPTURE_PLANE = "/host:CPU", "Task Environment"


@dataclass(frozen=True)
class FileRead:
    """What one host's XSpace holds."""

    host: str
    devices: tuple[DeviceRead, ...]
    trace: HostRead | None
    started_ns: int | None
    stopped_ns: int | None
    events: int
    bytes: int
    warnings: tuple[str, ...]


def facts(path: str | Path, run: str | None = None) -> tuple[ProfileFacts, StepTimes | None]:
    """What the profile at a path holds: its newest run, or the one called `run`.

    The path is a TensorBoard log folder, a run folder or one *.xplane.pb, local or a URL.
    Step times are None where neither a device nor the host marked steps. Raises UnreadableInput.
    """
    chosen = locate.choose(locate.runs(str(path)), str(path), run)
    with locate.fetched(chosen) as files:
        return read_files(files)


def read_files(files: Sequence[Path]) -> tuple[ProfileFacts, StepTimes | None]:
    """What the XSpaces of one run hold, one file a host; raises UnreadableInput."""
    reads = [read_file(file) for file in files]
    if not any(read.events for read in reads):
        raise UnreadableInput(f"{files[0]}: a profile without events: nothing was captured")
    devices = with_windows([device for read in reads for device in read.devices])
    steps = merged([found for read in reads if (found := _steps(read)) is not None])
    return _facts(reads, devices, steps), steps


def span_step_times(path: str | Path, name: str, run: str | None = None) -> StepTimes | None:
    """Step times from host events called `name`, e.g. a train function where no step is marked.

    A numbered mark of that name counts as well; nested events of the name are left out. None
    where there is no such event. Raises UnreadableInput.
    """
    chosen = locate.choose(locate.runs(str(path)), str(path), run)
    with locate.fetched(chosen) as files:
        reads = [read_file(file, span=name) for file in files]
    found = [
        steps
        for read in reads
        if read.trace and (steps := host_steps(read.trace, read.devices, name)) is not None
    ]
    return merged(found)


def read_file(file: Path, span: str | None = None) -> FileRead:
    """One pass over one XSpace; raises UnreadableInput with the file and the cause."""
    try:
        with opened(file) as data:
            return _read(space(data), file, len(data), span)
    except Damaged as damage:
        raise UnreadableInput(f"{file}: {damage}") from damage
    except OSError as error:
        raise UnreadableInput(f"{file}: {error.strerror or error}") from error


def _read(whole: Space, file: Path, size: int, span: str | None) -> FileRead:
    """The planes of one host, one after the other."""
    host = whole.hostnames[0] if whole.hostnames else file.name.removesuffix(locate.ENDING)
    devices: list[DeviceRead] = []
    trace: HostRead | None = None
    times: dict[str, object] = {}
    events = strangers = unknown = 0
    for plane in whole.planes():
        if TENSOR_CORE.fullmatch(plane.name):
            device = read_device(plane, host)
            devices.append(device)
            found: DeviceRead | HostRead = device
        else:
            found = read_host(plane, span)
            if plane.name == HOST_PLANE:
                trace = found
            elif plane.name == CAPTURE_PLANE:
                times = dict(plane.stats)
        events, strangers = events + found.events, strangers + found.strangers
        unknown += found.unknown_bytes
    return FileRead(
        host, tuple(devices), trace, _time(times.get("profile_start_time")),
        _time(times.get("profile_stop_time")), events, size,
        (*whole.errors, *whole.warnings, *_not_understood(file, strangers, unknown)),
    )  # fmt: skip


def _not_understood(file: Path, strangers: int, unknown: int) -> tuple[str, ...]:
    """What must not be dropped without a word."""
    said: list[str] = []
    if strangers:
        said.append(f"{file.name}: {strangers:,} events without metadata were left out")
    if unknown:
        said.append(f"{file.name}: {unknown:,} bytes in fields that this reader does not know")
    return tuple(said)


def _time(value: object) -> int | None:
    """A time of the capture, None where the profiler wrote none."""
    return value if isinstance(value, int) and value > 0 else None


def _steps(read: FileRead) -> HostSteps | None:
    """The steps of one host: the devices' own marks before the host's."""
    return device_steps(read.devices, read.trace) or (
        host_steps(read.trace, read.devices) if read.trace else None
    )


def _facts(
    reads: Sequence[FileRead], devices: Sequence[DeviceRead], steps: StepTimes | None
) -> ProfileFacts:
    """The facts of all hosts."""
    first = reads[0]
    timed = first.started_ns is not None and first.stopped_ns is not None
    return ProfileFacts(
        hosts=tuple(read.host for read in reads),
        devices=tuple(read.device for read in devices),
        ops=device_ops(devices),
        has_step_marker=steps is not None,
        bytes_read=sum(read.bytes for read in reads),
        warnings=tuple(warning for read in reads for warning in read.warnings),
        started_ns=first.started_ns,
        capture_ms=((first.stopped_ns or 0) - (first.started_ns or 0)) / 1e6 if timed else None,
    )
