"""What a recorded run does, in one word: what view, ledger, report, metrics and alerts read."""

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
"""The ends that the job's own side recorded."""
OVER = ENDED | {StateKind.KILLED}
STANDING = frozenset((StateKind.SILENT, StateKind.STOPPED, StateKind.KILLED))
"""In these no step is made."""


@dataclass(frozen=True)
class RunState:
    """A state, and what is said of it: the end of a sentence that begins with the run."""

    kind: StateKind
    text: str
    lives: bool | None = None
    """Whether its process is there; None where that is not known."""

    @property
    def over(self) -> bool:
        """Whether the run makes no step any more, whatever comes."""
        return self.kind in OVER

    @property
    def ill(self) -> bool:
        """Whether it did not end as it should."""
        return self.over and self.kind is not StateKind.COMPLETED
