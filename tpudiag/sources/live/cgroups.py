"""Control groups (version 2 or 1): CPU throttling, memory limits and OOM kills."""

from collections.abc import Iterator
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
            for depth in range(len(parts), -1, -1):
                yield mount.joinpath(*parts[:depth])


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
        return path.read_text(encoding="ascii", errors="replace")
    except OSError:
        return ""
