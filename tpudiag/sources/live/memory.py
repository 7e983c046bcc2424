"""Memory that a process of this machine can still take: its cgroup's, or the machine's."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.bounded_numbers import whole
from tpudiag.sources.live.cgroups import ROOT, groups, rows, text
from tpudiag.sources.live.sockets import PROC

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
