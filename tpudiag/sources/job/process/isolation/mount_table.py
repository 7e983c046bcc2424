"""What is mounted where: /proc/self/mountinfo."""

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mount:
    """A place where a file system begins."""

    path: str
    kind: str
    """Of the file system: ext4, tmpfs, proc, ..."""
    read_only: bool


def mounts() -> tuple[Mount, ...]:
    """All that this process can see, one for each place."""
    found: dict[str, Mount] = {}
    for line in (
        Path("/proc/self/mountinfo")
        .read_text(encoding="utf-8", errors="surrogateescape")
        .splitlines()
    ):
        first, _, second = line.partition(" - ")
        fields = first.split(" ")
        path = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        # What is mounted over another comes later, and hides it.
        found.pop(path, None)
        found[path] = Mount(path, second.split(" ")[0], "ro" in fields[5].split(","))
    return tuple(mount for path, mount in found.items() if _is_reached(path))


def beneath(folder: str, table: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """Those that lie in a folder, and in none of the others."""
    start = folder.rstrip("/") + "/"
    inside = [mount for mount in table if mount.path.startswith(start) and mount.path != folder]
    return tuple(
        each
        for each in inside
        if not any(
            each.path.startswith(other.path.rstrip("/") + "/") for other in inside if other != each
        )
    )


def _is_reached(path: str) -> bool:
    """Whether a place can be looked at: another user's FUSE mount cannot, and is left out."""
    try:
        os.lstat(path)
    except OSError:
        return False
    return True
