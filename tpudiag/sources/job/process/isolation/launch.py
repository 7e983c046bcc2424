"""What the launcher is told, and what it tells: plain JSON, as all that crosses processes here."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpudiag.script_run import Isolation

TOLD = "told.json"
"""The file in the run's folder in which the launcher leaves an `Outcome`."""
TOLD_BYTES = 1 << 15
"""What is kept free for it; blanks until then, and behind it."""
LAYER = "layer"
"""The folder in the run's folder in which the layers lie; the job does not see it."""
REDIRECTED = "redirected"
"""The folder in the run's folder that takes what is redirected in the job: each file under its
whole name, those of buckets under `gs__/`."""
FAILED = 125
"""Exit code of a launcher that could not start the job."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A job that is to be started, and how it is kept apart."""

    command: tuple[str, ...]
    """Empty to try alone whether it can be kept apart so."""
    isolation: Isolation
    folder: str
    """Of the run, ours, and seen by the job; it goes when the run ends."""
    own_processes: bool = False
    """Whether the job gets a process table of its own, with which all its processes end."""
    shared: tuple[str, ...] = ()
    """Folders that the job writes in for real: what is read from outside after its end."""
    working: str = ""
    """The folder that it runs in."""
    offline: bool = False
    """Whether it gets a network of its own, with nothing in it but itself; by `overlay` alone."""
    lifeline: int = -1
    """A pipe that closes when the tool is gone."""
    held_open: int = -1
    """A descriptor that shall be open until the launcher has ended."""
    passed: tuple[int, ...] = ()
    """Descriptors for the job alone."""
    keep: str = ""
    """Where what it wrote is kept; empty: nowhere."""
    layer_bytes: int = 2**30
    """How much memory layers may take that cannot lie on a disk."""
    spare_bytes: int = 0
    """Memory that this machine shall have left; 0: whatever the job takes."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What the launcher has to tell of a job that ended."""

    failure: str = ""
    """Why the job could not be started."""
    memory: str = ""
    """Why it was ended for want of memory."""
    written: int = 0
    checkpoints: int = 0
    removed: int = 0
    names: tuple[str, ...] = ()
    """Some of the files that were written or removed."""
    read_only: tuple[str, ...] = ()
    """What could be written outside and not by the job: no layer could be put over it."""
    kept: str = ""


def encoded(value: Launch | Outcome) -> str:
    """One of them as JSON."""
    return json.dumps(dataclasses.asdict(value))


def decoded(text: str) -> Launch:
    """The launch that was encoded."""
    fields: dict[str, Any] = json.loads(text)
    for name in ("command", "shared", "passed"):
        fields[name] = tuple(fields[name])
    return Launch(**fields)


def told(folder: str) -> Outcome | None:
    """What a launcher has left in the run's folder; None where it was ended before that."""
    try:
        fields: dict[str, Any] = json.loads(Path(folder, TOLD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    for name in ("names", "read_only"):
        fields[name] = tuple(fields[name])
    return Outcome(**fields)
