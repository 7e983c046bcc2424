"""The owner of a process: a stranger's process is not inspected with our permissions.

The pid comes from a recording, which anybody may have written.
"""

import os
import re
from pathlib import Path

from tpudiag.sources.live.cgroups import text
from tpudiag.sources.live.sockets import PROC

_UIDS = re.compile(r"^Uid:\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$", re.MULTILINE)


def owner(pid: int, proc: Path = PROC) -> int | None:
    """The one user of a process; None where it has several, or is gone."""
    status = text(proc / str(pid) / "status")
    # Real, effective, saved and file system user: a process with several has no owner.
    users = {int(user) for match in _UIDS.finditer(status) for user in match.groups()}
    return users.pop() if len(users) == 1 else None


def is_own(pid: int) -> bool:
    """Whether a process runs as this process's user."""
    return owner(pid) == os.geteuid()
