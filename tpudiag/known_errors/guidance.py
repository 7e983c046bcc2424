"""What can be said of an error that is not known: what its kind means, and what to look at next."""

from __future__ import annotations

import re

from tpudiag.records import dataclass

from .compiled import names
from .facts import status_of
from .model import Phase
from .place import operation_in, place_of
from .readings import FORM, narrower
from .readings.narrower import shared


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
