"""What the rehearsal does to a job that its user never asked for: named, switched off, blamed.

Each place that changes what the job would see asks `allowed` first and says so by `note`. An
exception that follows, in such a statement or of a value that came of one (`provenance`), is tried
once more without: the statement itself (`tried`), or the whole job by another process
(`JobSpec.without`). What then goes away is ours, a `Misfit`, and no fault of the script's.
"""

import os
import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import TypeVar

from tpudiag.location import Location
from tpudiag.script_run import InterventionKind, Misfit
from tpudiag.sources.job.points import provenance, user_lines
from tpudiag.sources.job.points.provenance import Chain

MOST_KEPT = 50
ANYWHERE: Chain = ()
"""On another thread, or in more places than are kept: any exception may be due to it."""

_OF_FOLDERS = frozenset((InterventionKind.DATA, InterventionKind.HOLES, InterventionKind.SESSION))
"""What folders may be missing by; how much is read or computed makes none."""

_Result = TypeVar("_Result")
_lock = threading.Lock()
_off: set[InterventionKind] = set()
_made: dict[InterventionKind, set[Chain]] = {}
_misfits: dict[tuple[InterventionKind, Location | None], Misfit] = {}


def begin(without: Collection[InterventionKind] = ()) -> None:
    """Start anew, with these switched off."""
    with _lock:
        _off.clear()
        _off.update(without)
        _made.clear()
        _misfits.clear()


def allowed(kind: InterventionKind) -> bool:
    """Whether what the job sees may be changed so."""
    return kind not in _off


def here() -> Chain:
    """The lines of user code that are under way."""
    main = threading.current_thread() is threading.main_thread()
    return user_lines.stack() if main else ANYWHERE


def note(kind: InterventionKind, at: Chain | None = None) -> None:
    """The job was given something else than it asked for, by what is under way or `at` lines."""
    chain = here() if at is None else at
    places = _made.get(kind)
    if places is None or chain not in places:
        with _lock:
            places = _made.setdefault(kind, set())
            places.add(chain if len(places) < MOST_KEPT else ANYWHERE)


def made() -> tuple[InterventionKind, ...]:
    """What was changed so far."""
    return tuple(_made)


def to_blame(error: BaseException) -> tuple[InterventionKind, ...]:
    """What was changed and an exception may be due to."""
    crash, flow = provenance.lines_of(error), provenance.Flow()
    places = {line.file for chains in _made.values() for chain in chains for line in chain}
    flow.read((*places, *(line.file for line in crash), *user_lines.user_files()))
    of_folder = _is_of_a_folder(error)
    return tuple(
        kind
        for kind, chains in _made.items()
        if not (of_folder and kind not in _OF_FOLDERS)
        and (ANYWHERE in chains or flow.may_be_due(chains, crash))
    )


def _is_of_a_folder(error: BaseException) -> bool:
    """Whether a file was asked for in a folder that is not there."""
    named: object = error.filename if isinstance(error, FileNotFoundError) else None
    folder = os.path.dirname(named) if isinstance(named, str) else ""  # noqa: PTH120
    return bool(folder) and not os.path.isdir(folder)  # noqa: PTH112


def misfits() -> tuple[Misfit, ...]:
    """What was changed, and did not fit."""
    return tuple(_misfits.values())


@contextmanager
def without(kind: InterventionKind) -> Generator[None, None, None]:
    """While a statement runs as the script has it."""
    before = kind in _off
    _off.add(kind)
    try:
        yield
    finally:
        if not before:
            _off.discard(kind)


def tried(kind: InterventionKind, call: Callable[[], _Result]) -> _Result:
    """What a call gives; once more without an intervention that its exception follows.

    A statement that it did not fit once runs without it from then on.
    """
    at = user_lines.caller()
    if (kind, at) in _misfits:
        with without(kind):
            return call()
    earlier = _made.pop(kind, None)
    try:
        return call()
    except Exception as error:
        if kind not in _made:
            raise
        with without(kind):
            result = call()
        if len(_misfits) < MOST_KEPT:
            text = f"{type(error).__name__}: {error}"
            _misfits[kind, at] = Misfit((kind,), at, text.splitlines()[0])
        return result
    finally:
        if earlier is not None:
            _made.setdefault(kind, set()).update(earlier)
