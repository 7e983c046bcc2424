"""The mounted file systems: /proc/self/mountinfo."""

import os
import re
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Mount:
    """A mount point."""

    path: str
    kind: str
    """Of the file system: ext4, tmpfs, proc, ..."""
    read_only: bool


def mounts() -> tuple[Mount, ...]:
    """All mounts visible to this process, one per place."""
    found: dict[str, Mount] = {}
    for line in (
        Path("/proc/self/mountinfo")
        .read_text(encoding="utf-8", errors="surrogateescape")
        .splitlines()
    ):
        first, _, second = line.partition(" - ")
        fields = first.split(" ")
        path = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        # A mount over another one comes later, and hides it.
        found.pop(path, None)
        found[path] = Mount(path, second.split(" ")[0], "ro" in fields[5].split(","))
    return tuple(mount for path, mount in found.items() if _is_reached(path))


def beneath(folder: str, table: tuple[Mount, ...]) -> tuple[Mount, ...]:
    """The outermost mounts below a folder."""
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
    """Whether a path is accessible: another user's FUSE mount is not, and is left out."""
    try:
        os.lstat(path)
    except OSError:
        return False
    return True
