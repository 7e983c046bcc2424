"""Whether the rehearsal itself ended the job: by its isolation, by --offline, or by its answers."""

import errno
import linecache
import os
import re
import socket
import subprocess
import traceback
from collections.abc import Iterator
from types import FrameType

from tpudiag.model import Location
from tpudiag.script_run import Isolation
from tpudiag.signals import Refusal, RefusedBy
from tpudiag.sources.job.held_back.answers import is_answer
from tpudiag.sources.job.held_back.connections import REFUSED
from tpudiag.sources.job.held_back.layer import Layer
from tpudiag.sources.job.held_back.no_writes import REFUSED as NO_WRITES
from tpudiag.sources.job.points import barrier, user_lines

WALLED = ("landlock", "refused")
"""The isolations without a layer of the system's."""
_DENIED = re.compile(
    r"permission ?denied|errno = 13|readonly database|unable to open database", re.I
)
_PATH = re.compile(r"(?:^|[\s'\"(=:])(/[^\s'\":;,)]+)")
_COMPUTES = re.compile(r"[/\\\\](tensorflow|(tf_)?keras)[/\\\\]")
_UNREACHED = (errno.ENETUNREACH, errno.EHOSTUNREACH)
NO_NAME = re.compile(
    r"could ?n[o']t resolve host|name resolution|name or service not known"
    r"|127\.0\.0\.1(:| port )9\b",
    re.I,
)
_NO_ROOM = re.compile(r"no space left on device|disk quota exceeded", re.I)
_NO_FILES = ("/dev/", "/sys/", "/proc/")
_MOST_LOCALS = 100


def of(
    error: BaseException, layer: Layer, lines: set[Location], isolation: Isolation, offline: bool
) -> Refusal | None:
    """The part of the rehearsal that caused an exception; None where it is the job's own.

    `lines`: those where something was held back.
    """
    chain = list(_chain(error))
    frames = [pair for each in chain for pair in traceback.walk_tb(each.__traceback__)]
    own = [user_lines.of(frame.f_code.co_filename, line) for frame, line in frames]
    location = next((each for each in reversed(own) if each is not None), None)
    by = None
    if any(isinstance(each, barrier.Withheld) for each in chain):
        by = RefusedBy.DEFECT
    elif _is_answered(frames, own, lines):
        by = RefusedBy.ANSWER
    elif offline and any(map(_is_unreached, chain)):
        by = RefusedBy.OFFLINE
    elif (isolation in WALLED and any(_is_walled(each, layer) for each in chain)) or (
        isolation == "overlay" and any(map(_is_layered, chain))
    ):
        by = RefusedBy.WALL
    elif isolation != "none" and any(map(_is_full, chain)):
        by = RefusedBy.ROOM
    if by is None:
        return None
    return Refusal(by, f"{type(error).__name__}: {error}"[:2000], location)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_answered(
    frames: list[tuple[FrameType, int]], own: list[Location | None], lines: set[Location]
) -> bool:
    """Whether an answer of ours caused it: at a line that sent, or by a value from one.

    TensorFlow's errors are about its computation, whatever its line sent before.
    """
    at = max((n for n, location in enumerate(own) if location is not None), default=-1)
    if at < 0 or any(_COMPUTES.search(f.f_code.co_filename) for f, _ in frames[at + 1 :]):
        return False
    if own[at] in lines:
        return True
    frame = frames[at][0]
    text = linecache.getline(frame.f_code.co_filename, frames[at][1])
    named = {n: v for n, v in frame.f_locals.items() if re.search(rf"\b{re.escape(n)}\b", text)}
    spaces = (named, *(below.f_locals for below, _ in frames[at + 1 :]))
    return any(is_answer(v) for names in spaces for v in list(names.values())[:_MOST_LOCALS])


def _number(error: BaseException) -> int | None:
    return error.errno if isinstance(error, OSError) else None


def _is_unreached(error: BaseException) -> bool:
    return (
        REFUSED in str(error)
        or isinstance(error, socket.gaierror)
        or _number(error) in _UNREACHED
        or NO_NAME.search(str(error)) is not None
    )


def _is_walled(error: BaseException, layer: Layer) -> bool:
    """Whether a user-writable path was refused, or a file written by the job is missing."""
    text = str(error)
    path = getattr(error, "filename", None) or next(iter(_PATH.findall(text)), "")
    path = os.fsdecode(path) if isinstance(path, (str, bytes)) else ""
    if isinstance(error, FileNotFoundError):
        return bool(path) and layer.holds(path)
    if isinstance(error, subprocess.CalledProcessError) and _may_have_met(error):
        return True
    denied = _number(error) in (errno.EACCES, errno.EPERM, errno.EXDEV) or _DENIED.search(text)
    return NO_WRITES in text or (bool(denied) and (not path or _may_write(path)))


def _is_layered(error: BaseException) -> bool:
    """Whether something was refused that no layer covers or can handle."""
    path = os.fsdecode(getattr(error, "filename", None) or "")
    # Of what is no file the job sees as much as without; a file of a group that its user namespace
    # does not know cannot be copied.
    fixed = _number(error) == errno.EROFS and (not path or path.startswith(_NO_FILES))
    return fixed or _number(error) == errno.EOVERFLOW


def _is_full(error: BaseException) -> bool:
    """Whether the disk of the layer, which differs from the usual one, was full."""
    said = f"{error} {getattr(error, 'stderr', '') or ''}"
    full = _number(error) in (errno.ENOSPC, errno.EDQUOT)
    return full or _NO_ROOM.search(said) is not None


def _may_have_met(error: subprocess.CalledProcessError) -> bool:
    """Whether a program may have failed at the wall: by its message, or where nobody read that."""
    said = [each for each in (error.stderr, error.stdout) if each is not None]
    texts = [each.decode("utf-8", "replace") if isinstance(each, bytes) else each for each in said]
    return error.stderr is None or any(_DENIED.search(str(text)) for text in texts)


def _may_write(path: str) -> bool:
    while path and not os.path.lexists(path):
        path = os.path.dirname(path)
    return os.access(path or "/", os.W_OK)
