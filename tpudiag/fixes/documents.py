"""A file with Python: a script, or a notebook by the program of its cells."""

import itertools
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from tpudiag.fixes import edits as texts
from tpudiag.fixes.edits import Edit, NoChange
from tpudiag.fixes.files import Refused, UserFile, read
from tpudiag.fixes.source import NotParsed, Source
from tpudiag.model import Location
from tpudiag.source_change import Replacement


@dataclass(frozen=True)
class Script:
    """A Python file."""

    file: UserFile
    source: Source

    def line(self, place: Location) -> int | None:
        """The line in the Python of a location."""
        return place.line

    def checked(self, edits: Iterable[Edit]) -> None:
        """Raise NoChange for edits that cannot be written back; here all can."""

    def changed(self, edits: Iterable[Edit]) -> bytes:
        """The text with the edits, encoded as it was."""
        return self.file.encoded(texts.applied(self.source.text, edits))

    def replacements(self, edits: Iterable[Edit]) -> tuple[Replacement, ...]:
        """Each edit in its lines."""
        return tuple(replacement(self.source, edit) for edit in sorted(dict.fromkeys(edits)))


def replacement(source: Source, edit: Edit) -> Replacement:
    """An edit by lines and columns."""
    (line, column), (end_line, end_column) = (_place(source, at) for at in (edit.start, edit.end))
    return Replacement(
        line=line, column=column, end_line=end_line, end_column=end_column, text=edit.text
    )


def _place(source: Source, at: int) -> tuple[int, int]:
    line = sum(start <= at for start in source.starts)
    return line, at - source.starts[line - 1] + 1


def _json(document: Any, indent: int | None, plain: bool, end: str) -> str:
    """A notebook in one of the layouts of its JSON; with an indent of 0 it has no spaces at all."""
    dense = (",", ":") if indent == 0 else None
    text = json.dumps(document, indent=indent or None, separators=dense, ensure_ascii=plain)
    return text + end


@dataclass(frozen=True)
class NotebookCells:
    """A notebook: its program line for line, as the rehearsal runs it."""

    file: UserFile
    source: Source
    cells: tuple[int, ...]
    """The program's line at which each cell begins."""

    @cached_property
    def _layout(self) -> tuple[int | None, bool, str]:
        text = self.file.text
        document = json.loads(text)
        # Jupyter indents by 1, others by 2, 4 or nothing: the wrong one would change every line.
        for layout in itertools.product((1, 2, 4, None, 0), (False, True), ("", "\n")):
            if _json(document, *layout) == text:
                return layout
        raise Refused(f"{self.file.name}: the layout of its JSON could not be kept")

    def line(self, place: Location) -> int | None:
        """The program's line for a line of a cell."""
        if place.line is None or place.cell is None or not 0 < place.cell <= len(self.cells):
            return None
        return self.cells[place.cell - 1] + place.line - 1

    def _by_cell(self, edits: Iterable[Edit]) -> dict[int, list[Edit]]:
        """The edits of each cell, with offsets in its own text."""
        starts = self.source.starts
        by_cell: dict[int, list[Edit]] = {}
        # Two findings on one line may need the same edit.
        for edit in dict.fromkeys(edits):
            number = max(n for n, line in enumerate(self.cells) if starts[line - 1] <= edit.start)
            begin = starts[self.cells[number] - 1]
            later = self.cells[number + 1] if number + 1 < len(self.cells) else None
            # Cells are separate texts in the file: an edit cannot span two.
            if later is not None and edit.end > starts[later - 1]:
                raise NoChange("the change goes over the end of a cell")
            by_cell.setdefault(number, []).append(
                Edit(edit.start - begin, edit.end - begin, edit.text)
            )
        return by_cell

    def _text_of(self, number: int) -> str:
        first = self.source.starts[self.cells[number] - 1]
        later = self.cells[number + 1] if number + 1 < len(self.cells) else None
        return self.source.text[first : self.source.starts[later - 1] if later else None]

    def checked(self, edits: Iterable[Edit]) -> None:
        """Raise NoChange where a magic or the JSON's layout prevents the edit."""
        try:
            self.changed(edits)
        except Refused as error:
            raise NoChange(str(error)) from error

    def changed(self, edits: Iterable[Edit]) -> bytes:
        """The notebook with edited cells, and otherwise unchanged JSON."""
        layout = self._layout
        document = json.loads(self.file.text)
        # The executed cells, as numbered in the program.
        code = [cell for cell in document["cells"] if cell.get("cell_type") == "code"]
        cells = [cell for cell in code if "".join(cell.get("source", "")).strip()]
        for number, own in self._by_cell(edits).items():
            cell = cells[number]
            stored = "".join(cell["source"])
            program = self._text_of(number).removesuffix("\n")
            moved = [_in_cell(edit, program, stored) for edit in _within(own, len(program))]
            new = texts.applied(stored, moved)
            cell["source"] = new if isinstance(cell["source"], str) else new.splitlines(True)
        return self.file.encoded(_json(document, *layout))

    def replacements(self, edits: Iterable[Edit]) -> tuple[Replacement, ...]:
        """None: the file's lines are those of its JSON."""
        del edits
        return ()


Document = Script | NotebookCells
"""A file whose Python can be changed."""


def _in_cell(edit: Edit, program: str, stored: str) -> Edit:
    """An edit of a cell's program applied to the cell, where commands and magics differ."""
    if stored.removesuffix("\n") == program:
        return edit
    plain, lines = program.split("\n"), stored.removesuffix("\n").split("\n")
    first, last = (program.count("\n", 0, at) for at in (edit.start, edit.end))
    pairs = [*zip(plain, lines, strict=False)][first : last + 1]
    alike = all(own == line or not f"{own}{line}".strip() for own, line in pairs)
    if len(plain) != len(lines) or not alike:
        raise NoChange("commands or magics of IPython stand on its lines")
    # IPython takes the spaces off a blank line.
    start, end = (len("".join(lines[:n])) - len("".join(plain[:n])) for n in (first, last))
    return Edit(edit.start + start, edit.end + end, edit.text)


def _within(edits: list[Edit], length: int) -> list[Edit]:
    """The edits of a cell whose last line has no line end."""
    kept: list[Edit] = []
    for edit in edits:
        # The program has a line end after each cell, which the last line of a cell lacks in the
        # file.
        if edit.start > length:
            kept.append(Edit(length, length, "\n" + edit.text.removesuffix("\n")))
        else:
            kept.append(Edit(edit.start, min(edit.end, length), edit.text))
    return kept


def script(name: str, project: Path) -> Script:
    """A Python file of the project; raises Refused."""
    user_file = read(name, project)
    try:
        return Script(user_file, Source.parsed(user_file.text))
    except NotParsed as error:
        raise Refused(f"{name}: {error}") from error


def notebook(name: str, project: Path, program: str, cells: tuple[int, ...]) -> NotebookCells:
    """A notebook of the project with its program; raises Refused."""
    user_file = read(name, project)
    try:
        return NotebookCells(user_file, Source.parsed(program), cells)
    except NotParsed as error:
        raise Refused(f"{name}: {error}") from error
