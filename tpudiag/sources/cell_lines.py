"""Maps lines of a program made from a notebook back to its cells."""

import os
import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import cast

from tpudiag import location

Fact = dict[str, object]


@dataclass(frozen=True)
class CellMap:
    """The cells of one program file."""

    notebook: str
    file: str
    cells: tuple[int, ...]
    """The line at which each cell begins."""

    def place(self, line: int) -> tuple[int, int]:
        """(cell, line in that cell) of a line of the program."""
        number = max(bisect_right(self.cells, line), 1)
        return number, line - self.cells[number - 1] + 1

    def named(self, text: str) -> str:
        """`program.py:81` as `train.ipynb, cell 7, line 12`; lines of other files unchanged."""
        place = location.parsed(text)
        if place is None or place.line is None or not self._is_program(place.file):
            return text
        cell, line = self.place(place.line)
        return str(location.Location(self.notebook, line, cell))

    def relocated(self, fact: object) -> object:
        """A fact from the job, with each line of the program mapped to its cell.

        A location becomes {file, line, cell}; in texts, `File "program", line 81` becomes
        `File "train.ipynb", cell 7, line 12`.
        """
        if isinstance(fact, dict):
            return self._located({k: self.relocated(v) for k, v in cast("Fact", fact).items()})
        if isinstance(fact, list):
            return [self.relocated(item) for item in cast("list[object]", fact)]
        return self.text(fact) if isinstance(fact, str) else fact

    def _located(self, fact: Fact) -> Fact:
        """A fact that may be a location in the program."""
        name = "line" if "line" in fact else "first_line"
        first = fact.get(name)
        if not (self._is_program(fact.get("file")) and isinstance(first, int)):
            return fact
        cell, line = self.place(first)
        last = fact.get("last_line")
        moved = {"last_line": last - first + line} if isinstance(last, int) else {}
        return fact | {"file": self.notebook, name: line, "cell": cell} | moved

    def text(self, text: str) -> str:
        """A text with the program's lines mapped to lines of cells."""
        # Before any regular expression: facts contain thousands of texts, few of which name the
        # program.
        if os.path.basename(self.file) not in text:  # noqa: PTH119
            return text

        def named(match: re.Match[str]) -> str:
            if not self._is_program(match[1]):
                return match[0]
            cell, line = self.place(int(match[2]))
            return f'File "{self.notebook}", cell {cell}, line {line}'

        text = re.sub(r'File "([^"\n]+)", line (\d+)', named, text)
        return re.sub(r"[^\s\"'`()]+\.py:\d+", lambda match: self.named(match[0]), text)

    def _is_program(self, file: object) -> bool:
        """Whether a name is the program's file, absolute or relative to the start folder."""
        return isinstance(file, str) and os.path.abspath(file) == os.path.abspath(self.file)  # noqa: PTH100
