"""Changes that the rehearsal makes to a job: named, switchable, and considered when it crashes.

Each place that changes what the job sees checks `allowed` first and records itself by `note`. A
later exception in such a statement, or over a value from one (`provenance`), is tried again without
the change: the statement itself (`tried`), or the whole job in another process (`JobSpec.without`).
An exception that disappears is ours, a `Misfit`, and not the script's fault.
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
"""On another thread, or in too many places to record: any exception may be due to it."""

_OF_FOLDERS = {InterventionKind[name] for name in ("DATA", "HOLES", "ROUNDS", "SESSION")}
"""Changes that may cause missing folders; the amount of reading or computing does not."""

_OF_VALUES = (NameError, AttributeError, TypeError)
"""What a round that was left out causes only where it would have set what is read."""

_Result = TypeVar("_Result")
_lock = threading.Lock()
_off: set[InterventionKind] = set()
_made: dict[InterventionKind, set[Chain]] = {}
_misfits: dict[tuple[InterventionKind, Location | None], Misfit] = {}


def begin(without: Collection[InterventionKind] = ()) -> None:
    """Reset, with these switched off."""
    with _lock:
        _off.clear()
        _off.update(without)
        _made.clear()
        _misfits.clear()


def allowed(kind: InterventionKind) -> bool:
    """Whether such a change of what the job sees is allowed."""
    return kind not in _off


def here() -> Chain:
    """The active lines of user code."""
    main = threading.current_thread() is threading.main_thread()
    return user_lines.stack() if main else ANYWHERE


def note(kind: InterventionKind, at: Chain | None = None) -> None:
    """Record a change at the active lines or `at` others."""
    chain = here() if at is None else at
    places = _made.get(kind)
    if places is None or chain not in places:
        with _lock:
            places = _made.setdefault(kind, set())
            places.add(chain if len(places) < MOST_KEPT else ANYWHERE)


def made() -> tuple[InterventionKind, ...]:
    """The changes so far."""
    return tuple(_made)


def to_blame(error: BaseException) -> tuple[InterventionKind, ...]:
    """The changes that may have caused an exception."""
    crash, flow = provenance.lines_of(error), provenance.Flow()
    places = {line.file for chains in _made.values() for chain in chains for line in chain}
    flow.read((*places, *(line.file for line in crash), *user_lines.user_files()))
    of_folder, of_value = _is_of_a_folder(error), isinstance(error, _OF_VALUES)
    return tuple(
        kind
        for kind, chains in _made.items()
        if not (of_folder and kind not in _OF_FOLDERS)
        and (
            (ANYWHERE in chains and not (of_value and kind is InterventionKind.ROUNDS))
            or flow.may_be_due(chains - {ANYWHERE}, crash)
        )
    )


def _is_of_a_folder(error: BaseException) -> bool:
    """Whether a file was requested in a missing folder."""
    named: object = error.filename if isinstance(error, FileNotFoundError) else None
    folder = os.path.dirname(named) if isinstance(named, str) else ""  # noqa: PTH120
    return bool(folder) and not os.path.isdir(folder)  # noqa: PTH112


def misfits() -> tuple[Misfit, ...]:
    """The changes that caused exceptions."""
    return tuple(_misfits.values())


@contextmanager
def without(kind: InterventionKind) -> Generator[None, None, None]:
    """Run a statement unchanged."""
    before = kind in _off
    _off.add(kind)
    try:
        yield
    finally:
        if not before:
            _off.discard(kind)


def tried(kind: InterventionKind, call: Callable[[], _Result]) -> _Result:
    """A call's result; repeated without an intervention that may have caused its exception.

    A statement for which it failed once runs without it from then on.
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
