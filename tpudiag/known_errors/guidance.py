"""What can be said of an error that is not known: what its kind means, and what to look at next."""

from __future__ import annotations

import re

from tpudiag.records import dataclass

from .catalogue import names, shared
from .model import Phase
from .place import operation_in, place_of
from .readings import FORM, narrower

_STATUSES = (
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "ABORTED",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
)
_STATUS = re.compile(rf"\b({'|'.join(_STATUSES)})\b")
_CLASS_OF = {"".join(part.capitalize() for part in name.split("_")): name for name in _STATUSES}
_CLASS = re.compile(rf"\b({'|'.join(_CLASS_OF)})Error\b")
_WORDS_OF = {name.replace("_", " ").capitalize(): name for name in _STATUSES if "_" in name}
_WORDS = re.compile(rf"\b({'|'.join(_WORDS_OF)}): ")


@dataclass(frozen=True, kw_only=True)
class Guidance:
    """What helps with an error that is not known."""

    status: str | None
    """Its status code, from the code, the exception's name or the words."""
    meaning: str
    operation: str | None
    own_line: str | None
    """The last line of the traceback that is no library's: file:line, or a notebook's cell."""
    next_steps: str
    """Commands, one a line."""


def guidance(text: str, message: str, phase: Phase) -> Guidance:
    """What the kind of an error means, what it names, what to look at.

    `message`: its own words; `text`: all that there is.
    """
    # The error's own words first: a log names the status of every retry that went well.
    status = status_of(message) or status_of(text)
    exception = re.findall(r"\b([A-Z]\w{2,60}(?:Error|Exception))\b", message)
    place = place_of(text)
    operation = operation_in(message) or place.operation
    means = names()["meanings"]
    meaning = means.get(status or "") or means.get(exception[-1] if exception else "", "")
    return Guidance(
        status=status,
        meaning=f"{meaning} {refusal_of(operation)}".strip() if operation else meaning,
        operation=operation,
        own_line=place.own_line,
        next_steps=names()["next"][phase],
    )


def refusal_of(operation: str) -> str:
    """What an operation, or the last part of a node's name, mostly refuses; empty if not known."""
    kind = re.sub(r"_\d{1,4}$", "", operation.rsplit("/", 1)[-1])
    refused = narrower.first(shared().get(FORM, ()), {"operation": (kind,)})
    return refused.cause if refused else ""


def status_of(text: str) -> str | None:
    """The status code that a text names, in any of its spellings."""
    if code := _STATUS.search(text):
        return code[1]
    if name := _CLASS.search(text):
        return _CLASS_OF[name[1]]
    words = _WORDS.search(text)
    return _WORDS_OF[words[1]] if words else None
