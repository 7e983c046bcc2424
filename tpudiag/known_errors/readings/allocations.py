"""The size of an allocation on the host: what no machine has tells of no lack of memory."""

from __future__ import annotations

from .meaning import Reading
from .narrower import computed

MOST_HOST_BYTES = 1 << 44
"""No host of a TPU has sixteen terabytes."""
GIBIBYTE = 1 << 30


def read(values: dict[str, str], text: str) -> Reading | None:
    """What the size of a refused allocation tells."""
    size = int(values.get("bytes", "0"))
    if size > MOST_HOST_BYTES:
        return computed("nonsense size", size=f"{size:,}")
    if size > GIBIBYTE and "tcmalloc" in text:
        return computed("one piece", gibibytes=f"{size / GIBIBYTE:.1f}")
    return None
