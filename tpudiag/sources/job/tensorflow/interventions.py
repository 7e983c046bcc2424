"""What the rehearsal does to a job that its user never asked for: named, switched off, blamed.

Each place that changes what the job would see asks `allowed` first and says so by `note`. An
exception that follows is tried once more without: the statement itself (`tried`), or the whole job
by another process (`JobSpec.without`). What then goes away is ours, a `Misfit`, and no fault of the
script's.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Generator
from contextlib import contextmanager
from typing import TypeVar

from tpudiag.location import Location
from tpudiag.script_run import Intervention, InterventionKind, Misfit
from tpudiag.sources.job.tensorflow import user_lines

MOST_KEPT = 50

_Result = TypeVar("_Result")
_lock = threading.Lock()
_off: set[InterventionKind] = set()
_made: dict[InterventionKind, Intervention] = {}
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


def note(kind: InterventionKind, statement: Location | None = None) -> None:
    """The job was given something else than it asked for; the first statement is kept."""
    if kind not in _made:
        with _lock:
            _made.setdefault(kind, Intervention(kind, statement or user_lines.caller()))


def made() -> tuple[Intervention, ...]:
    """What was changed so far."""
    return tuple(_made.values())


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
            _made[kind] = earlier
