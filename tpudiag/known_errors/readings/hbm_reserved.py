"""Why a program does not fit beside what lies in the TPU's memory."""

from __future__ import annotations

import re

from .hbm_usage import SIZE, amount, giga, size_of
from .meaning import Reading
from .narrower import computed

_RESERVABLE = re.compile(r"and" + SIZE.format("size", "size") + r"B?reservable", re.IGNORECASE)


def read(values: dict[str, str], text: str) -> Reading | None:
    """Why a program does not fit beside what is there: full, or free in pieces only."""
    asked, free = (amount(values.get(name, "")) for name in ("asked", "free"))
    found = _RESERVABLE.search(text)
    piece = size_of(found)
    if asked and free >= asked > piece > 0:
        return computed(
            "free in pieces",
            free=values["free"],
            asked=values["asked"],
            piece=giga(piece),
        )
    if asked > free > 0:
        return computed("nearly full", free=values["free"])
    return None
