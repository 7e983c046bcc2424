"""The texts of a job that TPU605 searches: its exception, then its output, in order of weight."""

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
"""Warnings that proved unfounded in a job that trains."""


@dataclass(frozen=True)
class JobText:
    """A text of the job in which errors are searched."""

    text: str
    source: str
    """`exception` or `log`."""
    level: Level = Level.ERROR

    def counts(self, hit: Match, signals: Signals) -> bool:
        """Whether a known error in it is one of this job's.

        A warning names possible consequences: known errors in it have not happened.
        """
        if self.level is not Level.WARNING:
            return True
        trained = signals.dispatch is not None and signals.dispatch.steps > 0
        feared = hit.error.phase in _BEFORE_THE_STEP and trained
        return hit.error.level != "error" and not feared

    def is_note(self, end: JobEnd, *, explained: bool) -> bool:
        """Whether its matches are only notes; `explained`: the exception that ended it is known."""
        printed = self.level is Level.CAUGHT and (end.crash is None or explained)
        return printed or self.level is Level.WARNING


def heard(end: JobEnd, signals: Signals) -> Iterator[JobText]:
    """A job's texts, the most important first."""
    own = end.how in ("signal", "timeout")  # the end's text is ours then
    yield JobText("" if own else end.error or "", "exception")
    logged = signals.logged or ()
    for level in (Level.ERROR, Level.WARNING):
        records = [record.text for record in logged if record.error == (level is Level.ERROR)]
        yield JobText(APART.join([at(level, end.log_tail), *records]), "log", level)
    last = (end.error or "").strip().partition("\n")[0]
    caught = [text for level, text in said(end.log_tail) if level is Level.CAUGHT]
    # The exception that ended the job is in the log as well.
    printed = [text for text in caught if not last or own or last not in text]
    yield JobText(APART.join(printed), "log", Level.CAUGHT)


def died(end: JobEnd) -> bool:
    """Whether it ended without a visible exception, so that any output may contain the cause."""
    return end.how == "signal" or (end.how == "exit" and end.exit_code != 0)
