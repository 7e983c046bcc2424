"""Input and output of the launcher: plain JSON, as for all processes here."""

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tpudiag.script_run import Isolation, Writes
from tpudiag.sources.job.process.protocol import tupled

TOLD = "told.json"
"""The file in the run's folder to which the launcher writes an `Outcome`."""
TOLD_BYTES = 1 << 15
"""The space reserved for it, filled with blanks."""
LAYER = "layer"
"""The folder in the run's folder for the layers; hidden from the job."""
REDIRECTED = "redirected"
"""The folder in the run's folder for redirected files: each under its absolute name, those of
buckets under `gs__/`."""
FAILED = 125
"""Exit code of a launcher that could not start the job."""


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A job to start, and its isolation."""

    command: tuple[str, ...]
    """Empty to only test whether such isolation works."""
    isolation: Isolation
    folder: str
    """The run's folder, which is ours, visible to the job, and removed after the run."""
    own_processes: bool = False
    """Whether the job gets a process table of its own, with which all its processes end."""
    shared: tuple[str, ...] = ()
    """Folders that the job writes for real, read from outside after its end."""
    working: str = ""
    """Its working folder."""
    offline: bool = False
    """Whether the job gets an empty network of its own; by `overlay` only."""
    lifeline: int = -1
    """A pipe that closes when the tool is gone."""
    held_open: int = -1
    """A descriptor to keep open until the launcher has ended."""
    passed: tuple[int, ...] = ()
    """Descriptors for the job only."""
    keep: str = ""
    """Where its writes are kept; empty: nowhere."""
    layer_bytes: int = 2**30
    """The memory for layers that cannot be on a disk."""
    spare_bytes: int = 0
    """Memory to leave free on this machine; 0: no limit."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The launcher's report on a job that ended."""

    failure: str = ""
    """Why the job could not be started."""
    memory: str = ""
    """Why it was ended for lack of memory."""
    writes: Writes | None = None
    """None where it was not started."""


def encoded(value: Launch | Outcome) -> str:
    """Either of them as JSON."""
    return json.dumps(dataclasses.asdict(value))


def decoded(text: str) -> dict[str, Any]:
    """The fields of either in a JSON text."""
    return {name: tupled(value) for name, value in json.loads(text).items()}


def outcome_in(folder: str) -> Outcome | None:
    """The launcher's report in the run's folder; None where it was killed before."""
    try:
        fields = decoded(Path(folder, TOLD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    writes: dict[str, Any] | None = fields.pop("writes")
    if writes is None:
        return Outcome(**fields)
    return Outcome(**fields, writes=Writes(**{n: tupled(v) for n, v in writes.items()}))
