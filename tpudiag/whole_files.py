"""Reads files that are held in memory whole, up to a limit: a device has no end."""

from __future__ import annotations

import errno
from pathlib import Path

MOST_BYTES = 1 << 29
"""Of a report, a notebook, prices, settings: a report of a pod has some 10 MB."""


def read_bytes(path: str | Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a file; raises OSError, for one that is larger as well."""
    with Path(path).open("rb") as stream:
        data = stream.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most >> 20} MB, which is read at most", str(path))
    return data


def read_text(path: str | Path, most: int = MOST_BYTES) -> str:
    """The same as UTF-8; raises OSError and UnicodeDecodeError."""
    return read_bytes(path, most).decode("utf-8")
