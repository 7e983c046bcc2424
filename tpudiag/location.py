"""A place in the user's code."""

import re

from tpudiag.records import dataclass

_IN_CELL = re.compile(r"(.+), cell (\d{1,9}), line (\d{1,9})", re.DOTALL)


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
    """`train.py:12` or `a.ipynb, cell 7, line 12` as a location; None for what names no line."""
    in_cell = _IN_CELL.fullmatch(text or "")
    if in_cell is not None:
        return Location(in_cell[1], int(in_cell[3]), int(in_cell[2]))
    file, _, line = (text or "").rpartition(":")
    # A damaged profile may hold digits without end, which int() refuses.
    return Location(file, int(line)) if file and line.isdecimal() and len(line) < 10 else None
