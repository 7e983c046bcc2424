"""Makes XSpaces after the planes, lines and stats of the real v6e profile, Steps line added."""

import zlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tests.wire_bytes import field, varint
from tpudiag.diagnoses.profile import ProfileRequest, diagnose
from tpudiag.model import Outcome, Report, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import StepTimes
from tpudiag.sources.profile import facts
from tpudiag.sources.profile.schema import message

MS = 10**9
"""Picoseconds."""
V6E = {
    "device_type_string": "TPU v6 Lite",
    "peak_teraflops_per_second": 918.0,
    "peak_hbm_bw_gigabytes_per_second": 1637.993152512,
    "has_megacore": 0,
    "has_merged_vmem": 1,
}
PROGRAM = 12190760917235803885
UNSIGNED = ("program_id", "symbol_id", "device_offset_ps", "device_duration_ps", "run_id")
Span = tuple[str, float, float]
"""Name, start and duration in ms."""


class Plane:
    """Fills one plane, giving out metadata ids."""

    def __init__(self, space: Any, name: str, stats: dict[str, Any] | None = None) -> None:
        self.plane = space.planes.add(name=name, id=len(space.planes))
        self._events: dict[str, int] = {}
        for key, value in (stats or {}).items():
            self.stat(self.plane, key, value)

    def stat_id(self, name: str) -> int:
        """The id of a stat's name."""
        known = self.plane.stat_metadata
        for key in known:
            if known[key].name == name:
                return int(key)
        number = len(known) + 1
        known[number].id = number
        known[number].name = name
        return number

    def stat(self, owner: Any, name: str, value: Any) -> None:
        """Add a stat to the plane, to an event or to event metadata."""
        stat = owner.stats.add(metadata_id=self.stat_id(name))
        if isinstance(value, str):
            stat.str_value = value
        elif isinstance(value, bytes):
            stat.bytes_value = value
        elif isinstance(value, float):
            stat.double_value = value
        elif name in UNSIGNED:
            stat.uint64_value = value
        else:
            stat.int64_value = value

    def event_id(self, name: str, text: str = "", **stats: Any) -> int:
        """The id of an event's name; text and stats are those of its first use."""
        if name not in self._events:
            number = self._events[name] = len(self._events) + 1
            metadata = self.plane.event_metadata[number]
            metadata.id = number
            metadata.name = f"%{name} = {text or f'f32[8,128] {name}()'}" if stats else name
            metadata.display_name = name if stats else ""
            for key, value in stats.items():
                self.stat(metadata, key, value)
        return self._events[name]

    def line(self, name: str, timestamp_ns: int = 0) -> Any:
        """A new line."""
        return self.plane.lines.add(
            name=name, id=len(self.plane.lines) + 1, timestamp_ns=timestamp_ns
        )

    def event(self, line: Any, span: Span, mid: int | None = None, **stats: Any) -> Any:
        """A new event on a line."""
        name, start, duration = span
        event = line.events.add(
            metadata_id=self.event_id(name) if mid is None else mid,
            offset_ps=round(start * MS) - line.timestamp_ns * 1000,
            duration_ps=round(duration * MS),
        )
        for key, value in stats.items():
            self.stat(event, key, value)
        return event


def call(plane: Plane, line: Any, span: Span, traced: bool, count: int | None = None) -> None:
    """A call of a tf.function that was traced for it, or not."""
    event = plane.event(line, span)
    stat = event.stats.add(metadata_id=plane.stat_id("tf_function_call"))
    stat.ref_value = plane.stat_id("traced-nonXla" if traced else "notTraced-nonXla")
    if count is not None:
        plane.stat(event, "tracing_count", count)


def each_step(
    plane: Plane,
    starts: Sequence[float],
    threads: Mapping[str, Sequence[tuple[Any, ...]]],
    mark: str = "",
) -> None:
    """The same events in each step on threads of a host: name, ms after its start, ms, stats.

    A mark is the name by which the thread `python` marks each step, of 20 ms.
    """
    lines = {
        thread: plane.line(thread) for thread in {**({"python": ()} if mark else {}), **threads}
    }
    for number, start in enumerate(starts):
        if mark:
            plane.event(lines["python"], (mark, start, 20.0), step_num=number)
        for thread, events in threads.items():
            for name, after, length, *stats in events:
                more: dict[str, Any] = stats[0] if stats else {}
                plane.event(lines[thread], (name, start + after, length), None, **more)


def marked(starts: Sequence[float], threads: Mapping[str, Sequence[tuple[Any, ...]]]) -> Any:
    """A host that marks its steps, and what its threads do in each (`each_step`)."""
    made = space()
    each_step(Plane(made, "/host:CPU"), starts, threads, "train")
    return made


def space(hostname: str = "") -> Any:
    """An XSpace with nothing but the times of its capture."""
    made: Any = message("XSpace")()
    if hostname:
        made.hostnames.append(hostname)
    Plane(
        made,
        "Task Environment",
        {"profile_start_time": 1741722099081044120, "profile_stop_time": 1741722100081044120},
    )
    return made


def add_device(
    made: Any,
    ordinal: int,
    modules: Sequence[Span],
    ops: Sequence[tuple[str, str, float, float]] = (),
    steps: Sequence[Span] = (),
    stats: dict[str, Any] | None = None,
    about: dict[str, dict[str, Any]] | None = None,
) -> None:
    """A TPU core: modules, ops (name, category, start, duration) and, if any, steps.

    `about` has the HLO text (`text`) and the stats of ops, by name.
    """
    plane = Plane(made, f"/device:TPU:{ordinal}", V6E if stats is None else stats)
    if steps:
        line = plane.line("Steps")
        for step in steps:
            plane.event(line, step)
    line = plane.line("XLA Modules")
    for run, span in enumerate(modules):
        plane.event(line, span, run_id=run + 1, replica_id=ordinal)
    line = plane.line("XLA Ops")
    for name, category, start, duration in ops:
        known: dict[str, Any] = {"flops": 1000, "model_flops": 1000, "bytes_accessed": 4096}
        mid = plane.event_id(
            name,
            hlo_category=category,
            program_id=PROGRAM,
            symbol_id=zlib.crc32(name.encode()),
            **known | (about or {}).get(name, {}),
        )
        plane.event(
            line,
            (name, start, duration),
            mid,
            device_offset_ps=round(start * MS),
            device_duration_ps=round(duration * MS),
        )


def add_steps(
    made: Any,
    ordinal: int,
    steps: Iterable[tuple[float, float]],
    ops: Sequence[tuple[str, str, float | None]],
    name: str = "cluster_train",
    first: int | None = 0,
    idle_ms: float = 0.0,
    **more: Any,
) -> None:
    """A TPU core that in each step (start and ms) runs the same ops, one after the other.

    An op without a time takes what is left of the program, which ends so long before its step. No
    Steps line counts the steps where they have no first number.
    """
    marks: list[Span] = []
    modules: list[Span] = []
    placed: list[tuple[str, str, float, float]] = []
    for number, (start, length) in enumerate(steps, first or 0):
        marks.append((str(number), start, length))
        modules.append((f"{name}({PROGRAM})", start, length - idle_ms))
        at, end = start, start + length - idle_ms
        for op, category, took in ops:
            if took is not None or end > at:
                placed.append((op, category, at, end - at if took is None else took))
                at += placed[-1][3]
    add_device(made, ordinal, modules, placed, () if first is None else marks, **more)


def add_program(made: Any, name: str, cycles: dict[str, int], devices: int = 0) -> None:
    """The HLO of a program as the profiler keeps it, with the compiler's cycles; a later one
    takes the place of the first. `devices` are those of all hosts that it runs on."""
    instructions = b"".join(
        field(2, field(1, op.encode()) + field(43, f'{{"estimated_cycles":"{n}"}}'.encode()))
        for op, n in cycles.items()
    )
    for place, known in enumerate(made.planes):
        if known.name == "/host:metadata":
            del made.planes[place]
            break
    plane = Plane(made, "/host:metadata")
    metadata = plane.plane.event_metadata[1]
    metadata.id, metadata.name = 1, f"{name}({PROGRAM})"
    assigned = field(15, b"\x08\x01\x10" + varint(devices)) if devices else b""
    plane.stat(metadata, "Hlo Proto", field(1, field(3, instructions) + assigned))


def training(
    devices: int = 2, steps: int = 10, step_ms: float = 20.0, infeed_ms: float = 2.0
) -> Any:
    """A training job: each step an infeed, a loop with a nested fusion, an all-reduce, a gap.

    Device n is n x 0.5 ms slower in every step than device 0.
    """
    made = space("worker-0")
    for ordinal in range(devices):
        marks: list[Span] = []
        modules: list[Span] = []
        ops: list[tuple[str, str, float, float]] = []
        for number in range(steps):
            start, slow = 100.0 + number * (step_ms + 5), 0.5 * ordinal
            length = step_ms + slow
            marks.append((str(number), start, length))
            modules.append((f"cluster_train({PROGRAM})", start, length - 1.0))
            loop = length - infeed_ms - 4.0
            ops += [
                ("infeed.1", "infeed", start, infeed_ms),
                ("while.1", "while", start + infeed_ms, loop),
                ("fusion.7", "loop fusion", start + infeed_ms + 1.0, loop - 3.0),
                ("all-reduce.2", "all-reduce", start + infeed_ms + loop, 3.0),
            ]
        add_device(made, ordinal, modules, ops, marks)
    add_host(made, ())
    return made


MATMUL = "bf16[4096,4096]{1,0:T(8,128)(2,1)} fusion(bf16[4096,4096]{1,0} %a, bf16[4096,4096] %b)"
ABOUT = {"matmul.1": {"text": MATMUL, "flops": 9_000_000_000_000, "bytes_accessed": 500_000_000}}


def pod_host(
    host: str,
    steps: int = 12,
    devices: int = 2,
    step_ms: float = 20.0,
    clock_ms: float = 0.0,
    input_ms: float = 1.0,
    compute_ms: float = 14.0,
    about: dict[str, dict[str, Any]] | None = None,
    extra: Sequence[tuple[str, str, float]] = (),
    first: int = 100,
) -> Any:
    """One host of a pod: infeed, a matrix product, extra ops, and a wait for all the others.

    Every step ends everywhere at the same time; `clock_ms` is how far the host's clock is ahead.
    Extra ops are (name, category, duration); what is left of the step is the collective.
    """
    made = space(host)
    spans = [(clock_ms + 50.0 + number * step_ms, step_ms) for number in range(steps)]
    ops: list[tuple[str, str, float | None]] = [("infeed.1", "infeed", input_ms), *extra]
    ops += [("matmul.1", "convolution fusion", compute_ms), ("all-reduce.2", "all-reduce", None)]
    for ordinal in range(devices):
        add_steps(made, ordinal, spans, ops, first=first, about=about or ABOUT)
    add_host(made, ())
    return made


def add_host(
    made: Any,
    steps: Sequence[float],
    step_ms: float = 20.0,
    asked: Sequence[Span] = (),
    kernels: Sequence[Span] = (),
    name: str = "train",
) -> None:
    """A host as TensorFlow traces it: marked steps at the given starts, GetNext calls, kernels.

    The spans' names are the threads that they run on.
    """
    plane = Plane(made, "/host:CPU")
    lines: dict[str, Any] = {}

    def thread(name: str) -> Any:
        if name not in lines:
            lines[name] = plane.line(name, timestamp_ns=212990)
        return lines[name]

    for number, start in enumerate(steps):
        plane.event(thread("python"), (name, start, step_ms), step_num=number + 7, _r=1)
        plane.event(thread("python"), (name, start + 1.0, step_ms - 2.0))
    for on, start, duration in asked:
        plane.event(thread(on), ("IteratorGetNextOp::DoCompute", start, duration), id=3)
    for on, start, duration in kernels:
        plane.event(thread(on), ("ExecutorState::Process", start, duration))


def add_reading(made: Any, starts: Sequence[float], read_ms: float) -> None:
    """A pipeline that reads records on the host while the devices wait from each start on."""
    plane = Plane(made, "/host:CPU")
    asks, reads = plane.line("tf_data_get_next/1"), plane.line("tf_data_private/2")
    for start in starts:
        for name in ("IteratorGetNextOp::DoCompute", "Iterator::Root", "Iterator::Root::Prefetch"):
            plane.event(asks, (name, start, read_ms))
        plane.event(reads, ("Iterator::Root::Prefetch::TFRecord", start, read_ms))


def write(made: Any, folder: Any, run: str = "2025_05_01_00_00_00", host: str = "vm") -> Any:
    """Write the space as one host of a run of a log folder; the file."""
    file = folder / "plugins" / "profile" / run / f"{host}.xplane.pb"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(made.SerializeToString())
    return file


def devices(made: Any) -> list[Any]:
    """The planes of TPUs."""
    return [plane for plane in made.planes if plane.name.startswith("/device:TPU")]


def without_lines(planes: Iterable[Any], *names: str) -> None:
    """Take the lines of these names out of planes."""
    for plane in planes:
        for line in [line for line in plane.lines if line.name in names]:
            plane.lines.remove(line)


def steps(made: Any, folder: Any) -> StepTimes:
    """The steps of a run of this space alone, which has some."""
    found = facts(write(made, folder))[1]
    assert found
    return found


def report(path: Any, **about: Any) -> Report:
    """The report on a file or a folder, without XProf."""
    return diagnose(ProfileRequest(path=str(path), xprof_limit_s=0, **about), Settings())


def outcomes(path: Any) -> dict[str, Outcome]:
    """What each check says of a file or a folder."""
    return {outcome.id: outcome for outcome in report(path).outcomes}


def verdicts(path: Any) -> dict[str, Verdict]:
    """The verdict of each check on a file or a folder."""
    return {id_: outcome.verdict for id_, outcome in outcomes(path).items()}


def never_passed(before: dict[str, Verdict], after: dict[str, Verdict]) -> None:
    """No check that failed passes after something was taken away."""
    for id_, verdict in before.items():
        if verdict is Verdict.FAILED:
            assert after[id_] is not Verdict.PASSED, id_
