"""Memory that a process of this machine can still take: its cgroup's, or the machine's."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.sources.live.sockets import PROC
from tpudiag.whole import whole

CGROUPS = Path("/sys/fs/cgroup")
_NO_LIMIT = 1 << 60
"""Version 1 writes such a number where there is no limit."""


@dataclass(frozen=True, order=True)
class FreeMemory:
    """Memory that is free, or would be freed at once, and whose limit that is."""

    free_bytes: int
    limited_by: str


def free_memory(pid: int, proc: Path = PROC, cgroups: Path = CGROUPS) -> FreeMemory | None:
    """Memory that a process can take before the OOM killer acts; None where unknown."""
    return min((*_machine(proc), *_groups(proc / str(pid), cgroups)), default=None)


def _machine(proc: Path) -> Iterator[FreeMemory]:
    """The machine's free memory."""
    for line in _text(proc / "meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            yield FreeMemory(1024 * int(line.split()[1]), "on the machine")


def _groups(process: Path, cgroups: Path) -> Iterator[FreeMemory]:
    """Free memory of each cgroup above the process that has a limit; both versions."""
    for line in _text(process / "cgroup").splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number == "0":
            yield from _limits(
                (cgroups, cgroups / "unified"),
                path,
                "memory.max",
                "memory.current",
                "inactive_file",
            )
        elif "memory" in controllers.split(","):
            yield from _limits(
                (cgroups / "memory",),
                path,
                "memory.limit_in_bytes",
                "memory.usage_in_bytes",
                "total_inactive_file",
            )


def _limits(
    mounts: tuple[Path, ...], path: str, limit_file: str, used_file: str, cached: str
) -> Iterator[FreeMemory]:
    """Each group from the process's own up; in a container its own may be the mount itself."""
    # In a container's namespace a path may begin above it, with dots.
    parts = [part for part in path.split("/") if part not in ("", "..")]
    for mount in mounts:
        # All of them: the tightest limit of any ancestor kills the process.
        for depth in range(len(parts), -1, -1):
            folder = mount.joinpath(*parts[:depth])
            limit, used = _number(folder / limit_file), _number(folder / used_file)
            if limit is None or used is None or limit >= _NO_LIMIT:
                continue
            free = limit - used + _cached_bytes(folder / "memory.stat", cached)
            yield FreeMemory(max(0, free), "in its cgroup")


def _cached_bytes(stat: Path, name: str) -> int:
    """The file cache, which the kernel drops before it kills."""
    for line in _text(stat).splitlines():
        key, _, value = line.partition(" ")
        if key == name:
            return int(value)
    return 0


def _number(path: Path) -> int | None:
    """A file's number; None for `max`, or where there is none."""
    return whole(_text(path).strip())


def _text(path: Path) -> str:
    """A file's text; nothing where it cannot be read."""
    try:
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
