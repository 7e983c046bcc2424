"""The mounted file systems: /proc/self/mountinfo."""

import os
import re
from pathlib import Path


def mounts() -> tuple[str, ...]:
    """The paths of all mounts visible to this process; one over another comes later."""
    table = Path("/proc/self/mountinfo").read_text(encoding="utf-8", errors="surrogateescape")
    found: dict[str, None] = {}
    for line in table.splitlines():
        path = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), line.split(" ")[4])
        found.pop(path, None)
        found[path] = None
    # Another user's FUSE mount is not accessible.
    return tuple(filter(os.path.lexists, found))


def beneath(folder: str, table: tuple[str, ...]) -> tuple[str, ...]:
    """The outermost mounts below a folder."""

    def below(path: str, of: str) -> bool:
        return path != of and path.startswith(of.rstrip("/") + "/")

    inside = [path for path in table if below(path, folder)]
    return tuple(path for path in inside if not any(below(path, other) for other in inside))
