"""What TPU605 searches of a job: its exception, then its output, each by how much it counts."""

from collections.abc import Iterator
from dataclasses import dataclass

from tpudiag.known_errors.model import Match, Phase
from tpudiag.log_levels import APART, Level, at, said
from tpudiag.signals import JobEnd, Signals

_BEFORE_THE_STEP = (
    Phase.INSTALLING,
    Phase.CREATING,
    Phase.RESOLVING,
    Phase.CONNECTING,
    Phase.INITIALISING,
    Phase.BUILDING,
)
"""What is feared of these did not come about in a job that trains."""


@dataclass(frozen=True)
class Heard:
    """A text of the job's in which errors are looked for."""

    text: str
    source: str
    """`exception` or `log`."""
    level: Level = Level.ERROR

    def counts(self, hit: Match, signals: Signals) -> bool:
        """Whether a known error in it is one of this job's.

        A warning tells of what may happen: known errors that it names have not happened.
        """
        if self.level is not Level.WARNING:
            return True
        trained = signals.dispatch is not None and signals.dispatch.steps > 0
        feared = hit.error.phase in _BEFORE_THE_STEP and trained
        return hit.error.level != "error" and not feared

    def is_note(self, end: JobEnd) -> bool:
        """Whether what is found in it is no more than a note."""
        return self.level is Level.WARNING or (self.level is Level.CAUGHT and end.crash is None)


def heard(end: JobEnd, signals: Signals) -> Iterator[Heard]:
    """The texts of a job, those that count most first."""
    own = end.how in ("signal", "timeout")  # what is said of the end is said by us then
    yield Heard("" if own else end.error or "", "exception")
    logged = signals.logged or ()
    for level in (Level.ERROR, Level.WARNING):
        records = [record.text for record in logged if record.error == (level is Level.ERROR)]
        yield Heard(APART.join([at(level, end.log_tail), *records]), "log", level)
    last = (end.error or "").strip().partition("\n")[0]
    caught = [each.text for each in said(end.log_tail) if each.level is Level.CAUGHT]
    # The one that ended the job is in the log as well.
    printed = [text for text in caught if not last or own or last not in text]
    yield Heard(APART.join(printed), "log", Level.CAUGHT)


def died(end: JobEnd) -> bool:
    """Whether it ended without an exception that could be seen: any of its words may tell why."""
    return end.how == "signal" or (end.how == "exit" and end.exit_code != 0)
