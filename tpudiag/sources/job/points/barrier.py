"""Keeps what goes wrong in our hooks from the job: it is noted as our defect, and the job goes on.

An exception that the hooked function itself raised is the job's and passes; one that is no
`Exception` (Ctrl-C, the end of the observation) passes as well.
"""

import contextlib
import threading
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from tpudiag.signals import HookDefect
from tpudiag.sources.job.points import Args, Call, Kwargs

MOST_DEFECTS_KEPT = 50
WITHHELD = "held back, for tpudiag itself failed to tell whether it sends: no error of this script"
_FOR_JOB = "_tpudiag_for_job"

_Result = TypeVar("_Result")
Sends = Callable[[tuple[Any, ...], dict[str, Any]], bool]
"""Whether a call with such arguments may change something elsewhere, for all that is known."""
_defects: dict[str, HookDefect] = {}
_lock = threading.Lock()
_noting = threading.local()


def defects() -> tuple[HookDefect, ...]:
    """The hooks of ours that failed so far, each with its first traceback."""
    with _lock:
        return tuple(_defects.values())


def forget() -> None:
    """Start anew, with no defect known."""
    with _lock:
        _defects.clear()


def note(hook: str, error: BaseException) -> None:
    """Count a failure of a hook; the first one's traceback is kept.

    Reading the lines of a traceback may itself call what is hooked: then no hook runs.
    """
    _noting.now = True
    try:
        _count(hook, error)
    finally:
        _noting.now = False


def _count(hook: str, error: BaseException) -> None:
    with _lock:
        known = _defects.get(hook)
        if known is not None:
            _defects[hook] = replace(known, count=known.count + 1)
        elif len(_defects) < MOST_DEFECTS_KEPT:
            text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
            _defects[hook] = HookDefect(hook, f"{type(error).__name__}: {error}", text)


def attempt(
    hook: str, ours: Callable[..., _Result], *args: object, **kwargs: object
) -> _Result | None:
    """What a function of ours gives; None where it fails, which is noted."""
    try:
        return ours(*args, **kwargs)
    except Exception as error:
        note(hook, error)
        return None


def send_each(put: Callable[..., None], **facts: Callable[[], object]) -> None:
    """Send the facts that can be had; one that cannot keeps back no other."""
    for name, fact in facts.items():
        value = attempt(name, fact)
        if value is not None:
            put(**{name: value})


def send_known(put: Callable[..., None], **facts: Callable[[], object]) -> None:
    """The same from beside the job, which goes on: what changes just now is sent another time."""
    for name, fact in facts.items():
        with contextlib.suppress(Exception):
            put(**{name: fact()})


class Withheld(OSError):
    """A call was not made: our hook on it failed, and it may send."""

    def __init__(self, hook: str) -> None:
        super().__init__(f"{hook}: {WITHHELD}")


def judged(
    hook: str, ours: Callable[..., _Result], may_send: bool, *args: object
) -> _Result | None:
    """As `attempt`; what may send does not go on where we fail."""
    try:
        return ours(*args)
    except Exception as error:
        note(hook, error)
    if may_send:
        raise for_job(Withheld(hook))
    return None


def for_job(error: Exception) -> Exception:
    """An exception of ours that the job is to see, such as the end of its data."""
    setattr(error, _FOR_JOB, True)
    return error


def _ends_thread(error: Exception) -> bool:
    """Whether MirroredStrategy ends a replica's thread so, for another replica has failed.

    The class is private (`mirrored_run._RequestedStop`); merge_call raises it in whoever called.
    """
    # By its name, so that no private module need be imported.
    return type(error).__name__ == "_RequestedStop"


class _JobCall:
    """The hooked function, which remembers how the job's own call of it ended."""

    __slots__ = ("_original", "raised", "result", "returned")

    def __init__(self, original: Call) -> None:
        self._original = original
        self.returned = False
        self.result: object = None
        self.raised: BaseException | None = None

    @property
    def __wrapped__(self) -> Call:
        """What inspect.signature is to look at."""
        return self._original

    def __call__(self, *args: object, **kwargs: object) -> object:
        self.raised = None
        try:
            self.result = self._original(*args, **kwargs)
        except BaseException as error:
            self.raised = error
            raise
        self.returned = True
        return self.result


def guarded(
    hook: str,
    call: Call,
    original: Call,
    args: Args,
    kwargs: Kwargs,
    sends: Sends | None = None,
) -> object:
    """`call(original, *args, **kwargs)`; where our part of it fails, what the original gives.

    What `sends` is not made then; `Withheld` is raised.
    """
    # To format a traceback opens source files, and `open` may be hooked (sandbox, stand-in data): a
    # hook that fails would note itself without end.
    if getattr(_noting, "now", False):
        return original(*args, **kwargs)
    job = _JobCall(original)
    try:
        return _held(hook, call, job, args, kwargs, sends)
    finally:
        # An exception holds the frames that it went through, and they hold this call: kept here, it
        # would keep them all until the next collection, and with them the job's files and batches.
        job.raised = None


def _held(
    hook: str, call: Call, job: _JobCall, args: Args, kwargs: Kwargs, sends: Sends | None
) -> object:
    """What a hook's call gives the job, and what it gives where our part of it fails."""
    try:
        return call(job, *args, **kwargs)
    except Exception as error:
        if error is job.raised or getattr(error, _FOR_JOB, False) or _ends_thread(error):
            raise
        note(hook, error)
    # Our part failed after the job's call had: the job must see its own exception, not ours.
    if job.raised is not None:
        raise job.raised
    # Never a second call where the first one returned: a step that ran twice has trained twice.
    if job.returned:
        return job.result
    if sends is not None and _may(sends, args, kwargs):
        raise for_job(Withheld(hook))
    return job(*args, **kwargs)


def _may(sends: Sends, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call may send; what cannot be told may."""
    try:
        return sends(args, kwargs)
    except Exception:
        return True
