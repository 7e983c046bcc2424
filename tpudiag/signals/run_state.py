"""The state of a recorded run, read by view, ledger, report, metrics and alerts."""

from enum import Enum

from tpudiag.records import dataclass


class StateKind(Enum):
    """The states of a run. The value is the word in reports and metrics."""

    COMPILING = "before its first step"
    STEPPING = "stepping"
    PAUSING = "pausing"
    SILENT = "silent"
    STOPPED = "stopped"
    COMPLETED = "completed"
    EXITED = "exited"
    FAILED = "failed"
    KILLED = "killed"
    LOST = "recording lost"


ENDED = frozenset((StateKind.COMPLETED, StateKind.EXITED, StateKind.FAILED))
"""Ends recorded by the job itself."""
OVER = ENDED | {StateKind.KILLED}
STANDING = frozenset((StateKind.SILENT, StateKind.STOPPED, StateKind.KILLED))
"""States without steps."""


@dataclass(frozen=True)
class RunState:
    """A state and its description: the end of a sentence that begins with the run."""

    kind: StateKind
    text: str
    lives: bool | None = None
    """Whether its process exists; None where unknown."""

    @property
    def over(self) -> bool:
        """Whether the run will make no more steps."""
        return self.kind in OVER

    @property
    def ill(self) -> bool:
        """Whether it did not end properly."""
        return self.over and self.kind is not StateKind.COMPLETED
