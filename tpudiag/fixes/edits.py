"""Edits of a text as replacements of spans, and calls as LibCST has them."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

import libcst as cst

Thing = TypeVar("Thing")


class NoChange(Exception):
    """There is no safe change; the text gives the reason in a few words."""


def needed(thing: Thing | None, why: str) -> Thing:
    """What a change cannot be made without; raises NoChange where it is missing."""
    if thing is None:
        raise NoChange(why)
    return thing


def only(things: Sequence[Thing], why: str) -> Thing:
    """The one of its kind; raises NoChange where there is none, or several."""
    return needed(things[0] if len(things) == 1 else None, why)


@dataclass(frozen=True, order=True)
class Edit:
    """A span of a text, in characters, and its replacement; empty for an insertion."""

    start: int
    end: int
    text: str

    def overlaps(self, other: Edit) -> bool:
        """Whether both change the same characters; insertions at one place do not."""
        if self == other:
            return False
        # An insertion at the edge of a replacement does not overlap it, and several may share a
        # place.
        if self.start == self.end or other.start == other.end:
            inner, outer = (self, other) if self.start == self.end else (other, self)
            return outer.start < inner.start < outer.end
        return self.start < other.end and other.start < self.end


def conflict(edits: Iterable[Edit], others: Iterable[Edit]) -> bool:
    """Whether some edits overlap some others."""
    others = tuple(others)
    return any(edit.overlaps(other) for edit in edits for other in others)


def applied(text: str, edits: Iterable[Edit]) -> str:
    """The text with the edits, each once; they must not overlap."""
    parts: list[str] = []
    at = 0
    # Not by text: insertions at one place stay in their order.
    for edit in sorted(dict.fromkeys(edits), key=lambda edit: (edit.start, edit.end)):
        parts += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*parts, text[at:]])


def line_after(text: str, edits: Iterable[Edit], line: int) -> int:
    """The start of a line, counted from 1, in the text with the edits."""
    starts = line_starts(text)
    place = starts[min(line, len(starts)) - 1]
    moved = 0
    for edit in dict.fromkeys(edits):
        if edit.start < place or (edit.start == edit.end == place and "\n" in edit.text):
            moved += len(line_starts(edit.text)) - len(line_starts(text[edit.start : edit.end]))
    return line + moved


def line_starts(text: str) -> list[int]:
    """The offset of each line's start, with Python's line ends, which exclude form feeds."""
    return [0, *(end.end() for end in re.finditer(r"\r\n?|\n", text))]


def unified(name: str, before: str, after: str) -> str:
    """The difference as a unified diff for `git apply`, empty where there is none."""
    rows: list[str] = []
    # Lines end at \n alone: a lone carriage return is no line end to `patch`.
    old, new = (list(io.StringIO(text, newline="\n")) for text in (before, after))
    for line in difflib.unified_diff(old, new, fromfile=f"a/{name}", tofile=f"b/{name}", n=3):
        rows.append(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n")
    return "".join(rows)


def called(call: cst.Call) -> str:
    """The last name of the called function."""
    if isinstance(call.func, cst.Attribute):
        return call.func.attr.value
    return call.func.value if isinstance(call.func, cst.Name) else ""


def argument(call: cst.Call, name: str, place: int | None = None) -> cst.Arg | None:
    """The argument of a name, or at its position; NoChange where * hides it."""
    for arg in call.args:
        if arg.keyword is not None and arg.keyword.value == name:
            return arg
    refuse_stars(call)
    plain = [arg for arg in call.args if arg.keyword is None]
    return plain[place] if place is not None and place < len(plain) else None


def refuse_stars(call: cst.Call) -> None:
    """Raise NoChange where * or ** may hold any argument."""
    if any(arg.star for arg in call.args):
        raise NoChange("its arguments are passed by * or **, which do not tell what they hold")


def literal(node: cst.CSTNode | None) -> object:
    """The value of a literal, None for anything else."""
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)):
        return cast("object", node.evaluated_value)
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        value = literal(node.expression)
        return -value if isinstance(value, (int, float)) else None
    if isinstance(node, cst.Name):
        return {"True": True, "False": False}.get(node.value)
    return None
