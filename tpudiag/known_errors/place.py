"""Where an error says that it happened: the user's own line, the operation, the layer."""

import re

from tpudiag.records import dataclass

from .compiled import wording

LINES_BEFORE = 300
"""Lines before an error in which its traceback stands."""
LINES_BEHIND = 3
LONGEST_SOURCE = 120


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where an error happened, as far as its text says."""

    own_line: str | None = None
    """The innermost line of a traceback that is no library's: file:line, or a notebook's cell."""
    source: str | None = None
    """What stands in it."""
    operation: str | None = None
    layer: str | None = None
    condition: str | None = None
    """What an `assert` supposed that was not so, where an AssertionError ended it."""
    raised: str | None = None
    """What stands in the innermost line, whose-ever it is."""
    script: str | None = None
    """The file that was started, where it is one."""


_INNER = {"tensorflow_core": "tensorflow", "tensorflow_api": "tensorflow"}


def library_at(text: str) -> tuple[str, str]:
    """The installed package of a text's last frame, and the file; empty where it is none."""
    frames = [
        each
        for each in wording("place package").finditer(wording("place own_getattr").sub("", text))
        if not wording("place wrappers").search(each[0])
    ]
    if not frames or frames[-1]["own"]:
        return "", ""
    package = _INNER.get(frames[-1]["package"], frames[-1]["package"])
    if package == "google" and "protobuf" not in (frames[-1]["file"] or ""):
        return "", ""  # the common roof of many packages
    return package, package + (frames[-1]["file"] or "").replace("\\", "/") + ".py"


def place_of(text: str) -> Place:
    """Where the error of a text happened."""
    own: tuple[str | None, str | None] = (None, None)
    script, raised = None, (0, "")
    # The last one stays: a traceback ends at the innermost frame.
    for found in wording("place frame").finditer(text):
        if source := found["source"] or found["auto_source"]:
            raised = (found.end(), source.strip())
        if (frame := _own_frame(found, text)) is None:
            continue
        own, file = frame, found["file"] or ""
        if script is None and "<module>" in found[0] and wording("place script").match(file):
            script = file
    layer = None
    # The last one, its type behind it: Keras wraps an inner layer's error into outer ones.
    for named in wording("place layer").finditer(text):
        layer = next(each for each in named.groups() if each) + (
            f" ({named[2]})" if named[2] else ""
        )
    asserted = wording("place asserted").findall(text) if "AssertionError" in text else []
    arrows = [(each.end(), each[2].strip()) for each in wording("place arrow").finditer(text)]
    return Place(
        raised=max(raised, *arrows)[1] or None if arrows else raised[1] or None,
        own_line=own[0],
        source=own[1] and own[1][:LONGEST_SOURCE],
        operation=operation_in(text),
        layer=layer,
        condition=asserted[-1].strip() if asserted else None,
        script=script,
    )


def place_near(text: str, line: int) -> Place:
    """Where the error on a line of a text happened: by the traceback that ends there."""
    rows = text.split("\n")
    return place_of("\n".join(rows[max(0, line - LINES_BEFORE) : line + LINES_BEHIND]))


def operation_in(text: str) -> str | None:
    """The operation, or the node of a graph, that a text names first."""
    named = wording("place operation").search(text)
    return next((each for each in named.groups() if each), None) if named else None


def _own_frame(found: re.Match[str], text: str) -> tuple[str, str | None] | None:
    """A frame of the user's own, or None for a library's."""
    file = found["file"] or found["plain"] or found["auto"]
    line = found["line"] or found["plain_line"] or found["auto_line"]
    if file:
        if wording("place others").search(file):
            return None
        source = found["source"] or found["auto_source"]
        return f"{file}:{line}", source and source.strip()
    # A notebook marks the line by an arrow, within the few lines that it shows around it.
    arrow = wording("place arrow").search(text, found.end(), found.end() + 1500)
    number = found["cell_line"] or (arrow[1] if arrow else None)
    source = arrow[2].strip() if arrow and arrow[1] == number else None
    cell = found["input"] or f"cell {found['cell']}"
    return f"{cell}, line {number}" if number else cell, source
