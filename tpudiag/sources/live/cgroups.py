"""Control groups (version 2 or 1): CPU throttling, free memory and OOM kills."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.bounded_numbers import whole
from tpudiag.sources.live.sockets import PROC

ROOT = Path("/sys/fs/cgroup")
VMSTAT = Path("/proc/vmstat")


def groups(pid: int, controller: str, proc: Path = PROC, root: Path = ROOT) -> Iterator[Path]:
    """The folders of a process's groups for a controller (cpu, memory): its own, then those above.

    In a container its own may be the mount itself.
    """
    for line in text(proc / str(pid) / "cgroup").splitlines():
        number, _, rest = line.partition(":")
        names, _, path = rest.partition(":")
        # Version 2 has the one hierarchy 0, without a name; version 1 one for each controller.
        if controller in names.split(","):
            mounts = (root / names, root / controller)
        elif number == "0":
            mounts = (root, root / "unified")
        else:
            continue
        # Seen from a container's own namespace a path may begin above it, with dots.
        parts = [part for part in path.split("/") if part not in ("", "..")]
        for mount in mounts:
            yield from (mount.joinpath(*parts[:depth]) for depth in range(len(parts), -1, -1))


def folder(pid: int, controller: str) -> Path | None:
    """The folder of a process's group for a controller."""
    known = (
        one for one in groups(pid, controller, root=ROOT) if (one / f"{controller}.stat").is_file()
    )
    return next(known, None)


def throttled_s(cpu: Path | None) -> float | None:
    """How long a CPU limit throttled the group."""
    counted = rows(cpu / "cpu.stat") if cpu else {}
    if "throttled_usec" in counted:
        return counted["throttled_usec"] / 1e6
    return counted["throttled_time"] / 1e9 if "throttled_time" in counted else None


def oom_kills(memory: Path | None) -> int:
    """OOM kills in the group, and on the whole host."""
    files = (memory / "memory.events", memory / "memory.oom_control") if memory else ()
    # The host's own holds those of groups as well, so that each counts once at least.
    return sum(rows(file).get("oom_kill", 0) for file in (*files, VMSTAT))


def rows(file: Path) -> dict[str, int]:
    """Lines of a name and a number; those of another kind are left out."""
    pairs = (line.split()[:2] for line in text(file).splitlines() if " " in line.strip())
    return {name: number for name, value in pairs if (number := whole(value)) is not None}


def text(path: Path) -> str:
    """A file's text; nothing where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


VERSIONS = (
    ("memory.max", "memory.current", "inactive_file"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""The files of a group with its limit and what is used of it, and the name of its file cache."""
_NO_LIMIT = 1 << 60
"""Version 1 writes such a number where there is no limit."""


@dataclass(frozen=True, order=True)
class FreeMemory:
    """Memory that is free, or would be freed at once, and whose limit that is."""

    free_bytes: int
    limited_by: str


def free_memory(pid: int, proc: Path = PROC, cgroups: Path = ROOT) -> FreeMemory | None:
    """Memory that a process can take before the OOM killer acts; None where unknown."""
    return min(_limits(pid, proc, cgroups), default=None)


def _limits(pid: int, proc: Path, cgroups: Path) -> Iterator[FreeMemory]:
    """What the machine has, and each group of a process with a limit: the tightest one ends it."""
    if (kilobytes := rows(proc / "meminfo").get("MemAvailable:")) is not None:
        yield FreeMemory(1024 * kilobytes, "on the machine")
    for folder in groups(pid, "memory", proc, cgroups):
        for limit_file, used_file, cached in VERSIONS:
            limit, used = (whole(text(folder / one).strip()) for one in (limit_file, used_file))
            if limit is None or used is None or limit >= _NO_LIMIT:
                continue
            # The file cache is dropped before anybody is killed.
            free = limit - used + rows(folder / "memory.stat").get(cached, 0)
            yield FreeMemory(max(0, free), "in its cgroup")
