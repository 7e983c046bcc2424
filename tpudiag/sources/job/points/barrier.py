"""Keeps failures of tpudiag's hooks from the job: recorded as defects, while the job continues.

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
_AFTER_OURS = "_tpudiag_after_ours"

_Result = TypeVar("_Result")
Sends = Callable[[tuple[Any, ...], dict[str, Any]], bool]
"""Whether a call with such arguments may change something elsewhere."""
_defects: dict[str, HookDefect] = {}
_lock = threading.Lock()
_noting = threading.local()


def defects() -> tuple[HookDefect, ...]:
    """Our failed hooks so far, each with its first traceback."""
    with _lock:
        return tuple(_defects.values())


def forget() -> None:
    """Forget all defects."""
    with _lock:
        _defects.clear()


def note(hook: str, error: BaseException) -> None:
    """Count a failure of a hook; keeps the first one's traceback.

    Reading a traceback's lines may itself call hooked functions: no hook runs meanwhile.
    """
    _noting.now = True
    try:
        with _lock:
            known = _defects.get(hook)
            if known is not None:
                _defects[hook] = replace(known, count=known.count + 1)
            elif len(_defects) < MOST_DEFECTS_KEPT:
                text = "".join(traceback.format_exception(type(error), error, error.__traceback__))
                _defects[hook] = HookDefect(hook, f"{type(error).__name__}: {error}", text)
    finally:
        _noting.now = False


def attempt(
    hook: str, ours: Callable[..., _Result], *args: object, **kwargs: object
) -> _Result | None:
    """The result of one of our functions; None where it fails, which is recorded."""
    try:
        return ours(*args, **kwargs)
    except Exception as error:
        note(hook, error)
        return None


def send_each(put: Callable[..., None], **facts: Callable[[], object]) -> None:
    """Send each fact that is available; one failure does not hold back the others."""
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
    """As `attempt`, but a call that may send is not made if we fail."""
    try:
        return ours(*args)
    except Exception as error:
        note(hook, error)
    if may_send:
        raise for_job(Withheld(hook))
    return None


def for_job(error: Exception) -> Exception:
    """Marks our exception as meant for the job, such as the end of its data."""
    setattr(error, _FOR_JOB, True)
    return error


class _JobCall:
    """The hooked function, which remembers how the job's own call ended."""

    __slots__ = ("_original", "raised", "result", "returned")

    def __init__(self, original: Call) -> None:
        self._original = original
        self.returned = False
        self.result: object = None
        self.raised: BaseException | None = None

    @property
    def __wrapped__(self) -> Call:
        """The function for inspect.signature."""
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
    """`call(original, *args, **kwargs)`; where our part fails, the original's result.

    A call that `sends` is not made then; `Withheld` is raised.
    """
    # Formatting a traceback opens source files, and `open` may be hooked (sandbox, synthetic data):
    # a failing hook would record itself endlessly.
    if getattr(_noting, "now", False):
        return original(*args, **kwargs)
    job = _JobCall(original)
    try:
        return _held(hook, call, job, args, kwargs, sends)
    finally:
        # Exceptions hold their frames, which hold this call: a reference here would keep the job's
        # files and batches until the next collection.
        job.raised = None


def _held(
    hook: str, call: Call, job: _JobCall, args: Args, kwargs: Kwargs, sends: Sends | None
) -> object:
    """The result of a hooked call for the job, also where our part fails."""
    try:
        return call(job, *args, **kwargs)
    except Exception as error:
        # MirroredStrategy ends a replica's thread so where another one failed: by its private
        # `mirrored_run._RequestedStop`, which merge_call raises in its caller.
        stops = type(error).__name__ == "_RequestedStop"
        if error is job.raised or getattr(error, _FOR_JOB, False) or stops:
            raise
        note(hook, error)
        ours = type(error)
    # Our part failed after the job's call had: the job must see its own exception, not ours.
    if job.raised is not None:
        raise job.raised
    # Never call twice after a return: a repeated step would train twice.
    if job.returned:
        return job.result
    if sends is not None and _may(sends, args, kwargs):
        raise for_job(Withheld(hook))
    try:
        return job(*args, **kwargs)
    except Exception as error:
        # What our part stands in for may lack here; arguments that fit neither are the job's.
        if not isinstance(error, ours):
            with contextlib.suppress(Exception):  # a frozen one stays the job's own
                setattr(error, _AFTER_OURS, True)
        raise


def is_after_ours(error: BaseException) -> bool:
    """Whether a call raised it that was made for real only because our part had failed."""
    return getattr(error, _AFTER_OURS, False)


def _may(sends: Sends, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call may send; if in doubt, it may."""
    with contextlib.suppress(Exception):
        return sends(args, kwargs)
    return True
