"""A place in the user's code."""

from __future__ import annotations

from tpudiag.records import dataclass


@dataclass(frozen=True)
class Location:
    """A line of the user's code (or a file without a line)."""

    file: str
    line: int | None = None
    cell: int | None = None
    """The cell that `line` counts in, where the file is a notebook: 7 for In[7]."""

    def __str__(self) -> str:
        if self.cell is not None:
            return f"{self.file}, cell {self.cell}, line {self.line}"
        return self.file if self.line is None else f"{self.file}:{self.line}"


def parsed(text: str | None) -> Location | None:
    """`train.py:12` as a location; None for what names no line."""
    file, _, line = (text or "").rpartition(":")
    # A damaged profile may hold digits without end, which int() refuses.
    return Location(file, int(line)) if file and line.isdecimal() and len(line) < 10 else None
