"""How much of a script a rehearsal saw: its training functions, what was shortened, its end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tpudiag.model import Location

CoverageEnd = Literal["whole", "first loop", "budget", "crash"]


@dataclass(frozen=True)
class StepFunction:
    """A function that trains, as the job called it."""

    name: str
    location: Location | None
    """Where it is defined; None for a library's own, as Keras' fit."""
    called_at: Location | None
    """The line that called it first."""
    ran: int
    """Calls that ran really."""
    forwarded: int
    """Calls that its last result answered."""
    call_ms: float | None = None
    """Median of its later calls, on CPU replicas."""


@dataclass(frozen=True)
class ShortenedLoop:
    """A loop that ran less often than the script asks."""

    kind: str
    """What it goes over: epochs of fit, tf.range, the dataset."""
    location: Location | None
    ran: int
    asked: int | None
    """None where only the data would tell."""


@dataclass(frozen=True)
class UnreachedLines:
    """Statements of the main flow that were not reached."""

    file: str
    first_line: int
    last_line: int
    text: str
    """The first of the lines."""


@dataclass(frozen=True)
class Coverage:
    """What of the script was run."""

    end: CoverageEnd
    functions: tuple[StepFunction, ...] = ()
    shortened: tuple[ShortenedLoop, ...] = ()
    replayed_batches: int = 0
    """Batches that loops got again in place of new ones."""
    stopped_at: Location | None = None
    unreached: tuple[UnreachedLines, ...] = ()
    rest_s: float = 0.0
    """What the script took past the steps that were observed."""
