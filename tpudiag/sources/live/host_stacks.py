"""The current stacks of a trainer's Python code, by py-spy, without a profiler server.

py-spy reads the process's memory; with --nonblocking it does not even pause it. It needs the
permission to trace the process: the same user and, in a container, SYS_PTRACE.
"""

import os
import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag import scratch
from tpudiag.bounded_numbers import whole
from tpudiag.model import Location
from tpudiag.sources.live.cgroups import text
from tpudiag.sources.live.processes import owner

RATE_HZ = 50
GRACE_S = 10.0
"""Time for py-spy beyond its sampling."""
FRAME = re.compile(r"(?P<function>.*) \((?P<file>.*):(?P<line>\d+)\)")
LIBRARY = re.compile(r"/(?:site|dist)-packages/|/lib/python3\.\d+/|^<")
_CAP_SYS_PTRACE = 1 << 19
POD = "securityContext: {capabilities: {add: [SYS_PTRACE]}}"


@dataclass(frozen=True)
class Place:
    """A line of the user's code, the function called there most, and its share of the samples."""

    location: Location
    function: str
    inside: str
    samples: int
    share: float


@dataclass(frozen=True)
class Stacks:
    """The main thread's places, most sampled first; or why they are unknown."""

    places: tuple[Place, ...] = ()
    samples: int = 0
    fault: str | None = None


def sample(pid: int, duration_s: float) -> Stacks:
    """Sample the main thread of a process without pausing it; for at least 0.2 s."""
    raw, fault = recorded(pid, duration_s)
    return Stacks(fault=fault) if raw is None else parsed(raw, pid)


def recorded(pid: int, duration_s: float) -> tuple[str | None, str]:
    """The samples in py-spy's raw format; or None and the reason."""
    beside = Path(sys.executable).parent / "py-spy"
    program = str(beside) if beside.is_file() else shutil.which("py-spy")
    if program is None:
        return None, "py-spy is not installed: pip install py-spy"
    # py-spy counts whole seconds.
    seconds = max(1, round(duration_s))
    with scratch.folder("stacks") as folder:
        out = folder / "raw"
        command = [program, "record", "--pid", str(pid), "--format", "raw", "--output", str(out)]
        command += ["--duration", str(seconds), "--rate", str(RATE_HZ)]
        # A thread that waits in C++ is idle to the kernel: just these waits are of interest. If
        # py-spy blocked, it would pause the process, and the training step, at each sample.
        command += ["--idle", "--threads", "--full-filenames", "--nonblocking"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, errors="replace",
                timeout=seconds + GRACE_S, stdin=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return None, f"py-spy did not end within {seconds + GRACE_S:g} s"
        except OSError as error:
            return None, f"py-spy cannot be run: {error.strerror or error}"
        if not out.is_file():
            return None, _fault(pid, done.stderr)
        return out.read_text(encoding="utf-8", errors="replace"), ""


def parsed(raw: str, pid: int) -> Stacks:
    """The main thread's places from py-spy's raw format: lines of `thread;frame;frame count`.

    Threads are named only where the process names them; the main one has the pid as its id.
    """
    inside: defaultdict[tuple[Location, str], Counter[str]] = defaultdict(Counter)
    for frames, count in main_stacks(raw, pid):
        for location, function, leaf in _place(frames):
            inside[location, function][leaf] += count
    total = sum(counts.total() for counts in inside.values())
    if not total:
        return Stacks(fault="py-spy saw no Python frame of its main thread")
    places = [
        Place(*where, counts.most_common(1)[0][0], counts.total(), counts.total() / total)
        for where, counts in inside.items()
    ]
    return Stacks(tuple(sorted(places, key=lambda place: -place.samples)), total)


def main_stacks(raw: str, pid: int) -> Iterator[tuple[list[str], int]]:
    """The main thread's frames, `function (file:line)`, outermost first, with their counts."""
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        thread, *frames = stack.split(";")
        # Linux gives the first thread the pid as its id.
        is_main = thread.endswith(": MainThread") or thread == f"thread ({pid})"
        if is_main and (times := whole(count)) is not None:
            yield frames, times


def _place(frames: list[str]) -> Iterator[tuple[Location, str, str]]:
    """The innermost frame of the user's code, and the innermost function of all."""
    calls = [match for frame in frames if (match := FRAME.fullmatch(frame))]
    if calls:
        # A trainer that is a library's own program has no user line.
        last = [match for match in calls if not LIBRARY.search(match["file"])] or calls
        leaf = "" if last[-1] is calls[-1] else calls[-1]["function"]
        yield Location(last[-1]["file"], int(last[-1]["line"])), last[-1]["function"], leaf


def _fault(pid: int, output: str) -> str:
    """Why there are no stacks, with the missing setting where it is a permission."""
    if "ermission denied" in output or "not permitted" in output:
        return f"reading its stacks is not permitted: {missing_right(pid)}"
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    first = next((line for line in lines if line.startswith("Error")), "it said nothing")
    if not Path(f"/proc/{pid}").exists():
        return "the process has ended"
    return f"py-spy failed: {first.removeprefix('Error: ')}"


def missing_right(pid: int) -> str:
    """The setting required to trace another process."""
    marks = ("/.dockerenv", "/run/.containerenv", "/var/run/secrets/kubernetes.io")
    variables = {"KUBERNETES_SERVICE_HOST", "container"} & os.environ.keys()
    # First: root in a container without the capability is refused as well.
    if (variables or any(Path(mark).exists() for mark in marks)) and not _may_trace():
        return (
            f"this container lacks SYS_PTRACE; in a pod's spec add {POD}, with Docker run it with "
            "--cap-add SYS_PTRACE"
        )
    user = owner(pid)
    if user is not None and user != os.geteuid():
        return "it belongs to another user; run tpudiag as that user or as root"
    scope = Path("/proc/sys/kernel/yama/ptrace_scope")
    if scope.is_file() and scope.read_text(encoding="ascii").strip() != "0":
        return "run tpudiag as root, or allow it: sudo sysctl kernel.yama.ptrace_scope=0"
    return "it has rights that tpudiag has not; run tpudiag as root with SYS_PTRACE"


def _may_trace() -> bool:
    match = re.search(r"^CapEff:\s*([0-9a-f]+)$", text(Path("/proc/self/status")), re.MULTILINE)
    return match is not None and bool(int(match[1], 16) & _CAP_SYS_PTRACE)
