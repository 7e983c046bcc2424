"""Describes what a rehearsal kept a job from sending."""

from collections import Counter
from dataclasses import replace

from tpudiag.diagnoses.report_parts import count, listed
from tpudiag.script_run import Writes
from tpudiag.signals import HeldBack, RefusedBy, SendKind, Signals

IN_PLACE = "a run on the TPU writes and sends; `--in-place` lets a rehearsal write"
WHAT_TO_DO = {
    RefusedBy.ROOM: "make room there, or set TMPDIR to another folder",
    RefusedBy.DEFECT: "please report it, with what -v says of the hook",
    RefusedBy.OFFLINE: "without --offline what it reads comes, and what it sends is held back",
}
"""The advice, where it is not to let the script write."""
UNJUDGED = (
    "Connected by a protocol of its own, of which nobody can tell whether it reads or sends (a "
    "database, a queue), and not held back (--offline does)"
)
MOST_NAMED = 6
"""The most destinations that the note lists."""


def words(held: tuple[HeldBack, ...]) -> tuple[str, ...]:
    """Each kind with its number: `2 uploads`, `1 wandb run`."""
    counts: Counter[str] = Counter()
    for each in _held(held):
        # Trackers are known by name: a run is one of wandb's.
        runs = each.kind is SendKind.RUN
        counts[f"{each.what} {each.kind.value}" if runs else each.kind.value] += each.count
    return tuple(
        count(number, noun, f"{noun}es" if noun.endswith("sh") else "")
        for noun, number in counts.items()
    )


def with_sends(writes: Writes | None, signals: Signals) -> Writes | None:
    """A job's writes, and the sends that were held back."""
    if writes is None or not _held(signals.held_back):
        return writes
    return replace(writes, not_sent=words(signals.held_back or ()))


def notes(signals: Signals) -> tuple[str, ...]:
    """The destinations, with the lines that send; and what may have been sent."""
    held = _held(signals.held_back)
    let = tuple(each for each in signals.held_back or () if each not in held)
    return (
        *([f"Not sent, and answered as if it had been: {_named(held)}."] if held else []),
        *([f"{UNJUDGED}: {_named(let)}."] if let else []),
    )


def _held(all_of_them: tuple[HeldBack, ...] | None) -> tuple[HeldBack, ...]:
    return tuple(each for each in all_of_them or () if each.kind is not SendKind.UNJUDGED)


def _named(held: tuple[HeldBack, ...]) -> str:
    named = [each.what + (f" ({each.location})" if each.location else "") for each in held]
    return listed(named, MOST_NAMED)


def refused(signals: Signals) -> str | None:
    """That the rehearsal itself ended the job; None where it did not."""
    refusal = signals.refusal
    if refusal is None:
        return None
    where = f"{refusal.location}: " if refusal.location is not None else ""
    error = refusal.error.splitlines()[0]
    what_to_do = WHAT_TO_DO.get(refusal.by, IN_PLACE)
    return f"{where}ended by {refusal.by.value}, not by a fault of its own: {error}; {what_to_do}"
