"""A change of the user's source that mends a finding: offered, proven, written."""

from enum import Enum
from typing import Literal

from tpudiag.records import dataclass
from tpudiag.report_figures import Value


class Effect(Enum):
    """What a change of the script does to the training.

    none: the same numbers; order: the same numbers in another order of data or sums; numbers: other
    numbers, as they should have been; model: another model or batch, never made unasked.
    """

    NONE = "none"
    ORDER = "order"
    NUMBERS = "numbers"
    MODEL = "model"


ChangeState = Literal["offered", "proven", "dropped", "written"]
"""As it could be made; rehearsed and sound; rehearsed and not; proven and in the file."""


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """A span of a file, lines and columns counted from 1 in characters, and what replaces it.

    It ends before its last column, as SARIF's regions do; an insertion begins and ends at one.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str


@dataclass(frozen=True, kw_only=True)
class SourceChange:
    """A change of the user's file that mends a finding."""

    title: str
    file: str
    effect: Effect
    replacements: tuple[Replacement, ...]
    diff: str
    """Of this change alone, as `diff -u` has it."""
    state: ChangeState = "offered"
    proof: str = ""
    """What the rehearsal of the changed script showed, or why the change was dropped."""
    worth: str = ""
    """What it gains, where that was measured."""


@dataclass(frozen=True)
class FigureChange:
    """A figure of the job as it was and with the proven changes."""

    name: str
    before: Value
    after: Value
    unit: str


@dataclass(frozen=True, kw_only=True)
class Mending:
    """What `tpudiag fix` did: its rehearsals, and the job with the changes that were proven."""

    rehearsals: int
    written: tuple[str, ...] = ()
    """Files that hold the proven changes now, or the patch that does."""
    refused: tuple[str, ...] = ()
    """Files that were not to be touched, each with the reason."""
    diff: str = ""
    """All proven changes together."""
    losses: str = ""
    """How the losses of the observed steps compare."""
    figures: tuple[FigureChange, ...] = ()
    left: int = 0
    """Findings that are still in the files."""
