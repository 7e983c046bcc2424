"""Skips after a rehearsal: rehearsing again would not measure what is missing."""

from dataclasses import replace

from tpudiag.model import Outcome, Verdict, skipped_reason
from tpudiag.signals import JobEnd

_REHEARSE = "rehearse the job"
_CRASHES = {
    "exception": "crashed",
    "exit": "ended with an error",
    "signal": "was killed",
    "timeout": "ran out of time",
    "interrupted": "was interrupted",
    "unsupported": "cannot be rehearsed further",
}


def after_rehearsal(
    outcomes: tuple[Outcome, ...], end: JobEnd | None, *, not_run: bool = False
) -> tuple[Outcome, ...]:
    """The outcomes, with skips that refer to the rehearsal that just took place.

    `not_run`: something was too heavy for this machine, and only traced.
    """
    return tuple(_reworded(outcome, end, not_run) for outcome in outcomes)


def _reworded(outcome: Outcome, end: JobEnd | None, not_run: bool) -> Outcome:
    """One outcome; only skips that suggest a rehearsal change."""
    how = outcome.how_to_measure or ""
    if outcome.verdict is not Verdict.SKIPPED or not how.startswith(_REHEARSE):
        return outcome
    # A job's `sys.exit` may be its normal end.
    went_well = end is None or (end.how == "exit" and not end.exit_code and not end.error)
    crash = None if end is None or went_well else _CRASHES.get(end.how)
    if crash and end and "of memory left" in (end.error or ""):
        crash = "was ended for want of memory"
    # It was just rehearsed: another rehearsal would show no more.
    if crash is None or end is None:
        cause = f"{outcome.cause} (the step was traced, not run)" if not_run else outcome.cause
        return replace(outcome, reason=cause, how_to_measure=None)
    where = f" at {end.location}" if end.location is not None else ""
    cause = f"the job {crash}{where} before: {outcome.cause}"
    mend = "mend that first, then run this again" if end.how == "exception" else None
    return replace(outcome, reason=skipped_reason(cause, mend), how_to_measure=mend)
