"""A job that is a notebook: its cells become a program in the run's folder."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tpudiag.diagnoses.report_parts import listed
from tpudiag.model import Location
from tpudiag.sources import notebook
from tpudiag.sources.cell_lines import CellMap
from tpudiag.sources.job.process import cells
from tpudiag.sources.script import ScriptFacts

MOST_NAMED = 5
"""Skipped lines that the note names one by one."""
_PINNED = re.compile(r"\b([A-Za-z][\w-]*)==(\d+\.\d+)")
"""A package and the release of it that a command installs."""


@dataclass(frozen=True)
class NotebookProgram:
    """The program made from a notebook."""

    file: str
    source: notebook.Notebook

    @property
    def map(self) -> CellMap:
        """The mapping from the program's lines back to the cells."""
        return CellMap(self.source.name, self.file, self.source.cells)

    def relocated(self, facts: ScriptFacts) -> ScriptFacts:
        """The script's facts, located by cells and their lines."""
        tf1 = (replace(u, location=u.location and self._there(u.location)) for u in facts.tf1)
        return replace(facts, tf1=tuple(tf1), saves=tuple(map(self._there, facts.saves)))

    def _there(self, place: Location) -> Location:
        if place.line is None:
            return Location(self.source.name)
        cell, line = self.map.place(place.line)
        return Location(self.source.name, line, cell)

    def note(self) -> str | None:
        """The skipped parts of the notebook; None where everything ran."""
        skipped = self.source.skipped
        if not skipped:
            return None
        named = listed([str(line) for line in skipped], MOST_NAMED, "; ")
        return f"Shell commands and magics of the notebook were not run: {named}."

    def other_release(self, installed: Mapping[str, str]) -> str | None:
        """What it would install of another release than the job has: that may be why it fails."""
        for line in self.source.skipped:
            for name, release in _PINNED.findall(line.text):
                there = installed.get(name.lower().replace("_", "-"))
                if there is not None and not f"{there}.".startswith(f"{release}."):
                    return (
                        f"cell {line.cell}, line {line.line} installs {name} {release}, which was "
                        f"not run: the job has {there}. `--python` takes an environment with it."
                    )
        return None

    def started(self) -> str | None:
        """The first Python program that a shell command starts, and how to rehearse it."""
        for line in self.source.skipped:
            command = notebook.python_command(line.text)
            if command is not None:
                program, *_ = command.partition(" -- ")
                return (
                    f"cell {line.cell}, line {line.line} starts {program}, which was not "
                    f"run with it: `tpudiag check {command}`"
                )
        return None


def prepared(program: str, folder: Path, *, holds_writes: bool) -> NotebookProgram | None:
    """A notebook's program, written into the run's folder; None for anything else."""
    if not notebook.is_notebook(program):
        return None
    source = notebook.read(program)
    left = tuple(s for s in source.skipped if not (holds_writes and cells.is_of_files(s.text)))
    return written(replace(source, skipped=left), folder)


def written(source: notebook.Notebook, folder: Path) -> NotebookProgram:
    """A notebook's program as a file, from which AutoGraph and tracebacks read its lines."""
    file = folder.absolute() / "notebook.py"
    file.write_text(source.program, encoding="utf-8")
    return NotebookProgram(str(file), source)
