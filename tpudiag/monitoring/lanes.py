"""Which recorded runs follow each other in one worker, and which of the workers are judged."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tpudiag.monitoring.recording import NS, Run

SAME_JOB_S = 3_600.0
"""A run that begins so long after the last one of its worker goes on with the job."""


@dataclass(frozen=True)
class StoredRun:
    """A run, and the file that it is in."""

    path: Path
    run: Run


Lane = tuple[StoredRun, ...]
"""The runs of one worker, one after the other: epochs, a second `fit`, restarts."""


def lanes(runs: Iterable[StoredRun], lives: Callable[[Run], bool]) -> list[Lane]:
    """The runs by worker; `lives` says whether a run that did not end may go on."""
    chains: list[list[StoredRun]] = []
    for one in sorted(runs, key=lambda each: (each.run.started_ns, each.run.id)):
        free = [lane for lane in chains if _goes_on(lane[-1].run, one.run, lives)]
        if free:
            max(free, key=lambda lane: _likeness(lane[-1], one)).append(one)
        else:
            chains.append([one])
    return [tuple(lane) for lane in chains]


def judged(recorded: Sequence[Lane]) -> list[Lane]:
    """The workers of the newest job: those heard of since its worker heard last of began it."""
    if not recorded:
        return []
    # By id, too: of two that began together each look is to choose the same one.
    newest = max(recorded, key=lambda lane: (lane[-1].run.started_ns, lane[-1].run.id))
    began_ns = session(newest)[0].run.started_ns
    return [lane for lane in recorded if lane is newest or lane[-1].run.last_ns >= began_ns]


def session(lane: Lane) -> Lane:
    """The last runs of a worker without a long time between them: the job of today."""
    first = len(lane) - 1
    while first > 0 and (
        lane[first].run.started_ns - lane[first - 1].run.last_ns <= SAME_JOB_S * NS
        and lane[first].run.name == lane[first - 1].run.name
    ):
        first -= 1
    return lane[first:]


def _goes_on(before: Run, after: Run, lives: Callable[[Run], bool]) -> bool:
    """Whether a run may follow another in the same worker."""
    if before.name != after.name or before.worker != after.worker:
        return False
    # Two that ran at the same time are two workers, whatever they are called.
    if before.last_ns > after.started_ns:
        return False
    # A kill writes no end: what is not heard of any more may go on in a restart, what still lives
    # may not. The same process calls fit again without having ended.
    return before.ended_ns is not None or before.pid == after.pid or not lives(before)


def _likeness(before: StoredRun, after: StoredRun) -> tuple[bool, bool, bool, int]:
    """The same process, host and file count most, then who was heard of last."""
    return (
        before.run.pid == after.run.pid and before.run.host == after.run.host,
        before.run.host == after.run.host,
        before.path == after.path,
        before.run.last_ns,
    )
