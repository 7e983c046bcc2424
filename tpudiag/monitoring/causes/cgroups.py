"""A control group (version 2 or 1): throttling by its CPU limit, and OOM kills."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
VMSTAT = Path("/proc/vmstat")


def folder(pid: int, controller: str, root: Path | None = None) -> Path | None:
    """The folder of a process's group for a controller (cpu, memory)."""
    root = root or ROOT
    try:
        text = Path(f"/proc/{pid}/cgroup").read_text(encoding="utf-8")
    except OSError:
        return None
    rows = [line.split(":", 2) for line in text.splitlines() if line.count(":") >= 2]
    # Version 2 has the one nameless hierarchy 0; version 1 has one per controller.
    for number, names, path in sorted(rows, key=lambda row: row[0] == "0"):
        if controller not in names.split(",") and not (number == "0" and not names):
            continue
        for base in (root / names, root / controller) if names else (root,):
            # In a container the group's own folder is mounted as the root.
            for one in (base / path.lstrip("/"), base):
                if (one / f"{controller}.stat").is_file():
                    return one
    return None


def throttled_s(cpu: Path | None) -> float | None:
    """How long a CPU limit throttled the group."""
    rows = _rows(cpu / "cpu.stat") if cpu else {}
    if "throttled_usec" in rows:
        return rows["throttled_usec"] / 1e6
    return rows["throttled_time"] / 1e9 if "throttled_time" in rows else None


def oom_kills(memory: Path | None) -> int:
    """The number of OOM kills, in the group and on the whole host."""
    files = (memory / "memory.events", memory / "memory.oom_control") if memory else ()
    # The host's count includes the groups', so each kill counts at least once.
    return sum(_rows(file).get("oom_kill", 0) for file in (*files, VMSTAT))


def _rows(file: Path) -> dict[str, int]:
    """Lines of a name and a number."""
    rows: dict[str, int] = {}
    with suppress(OSError, ValueError):
        for line in file.read_text(encoding="ascii").splitlines():
            name, _, value = line.partition(" ")
            if value.strip().isdigit():
                rows[name] = int(value)
    return rows
