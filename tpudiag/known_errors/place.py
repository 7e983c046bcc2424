# ruff: noqa: E501  (patterns stay in one piece)
"""Where an error says that it happened: the user's own line, the operation, the layer."""

import re
from typing import NamedTuple

from tpudiag.records import dataclass

LINES_BEFORE = 300
"""Lines before an error in which its traceback stands."""
LINES_BEHIND = 3
LONGEST_SOURCE = 120

_OPERATION = re.compile(
    r"\[Op:(\w{2,80})\]|Detected at node '?([\w./-]{2,160})|\{\{node ([\w./:-]{2,160})\}\}"
    r"|\bNo registered '(\w{2,60})'"
    r"|op_type=\"(\w{2,60})\"|\bnode ([\w./-]{3,160}) \(defined at|with op (\w{2,60}) must"
)
_LAYER = re.compile(
    r"when calling layer '?\"?([\w./ -]{1,80}?)'?\"? \(type (\w{1,60})\)"
    r"|when calling (\w{1,60})\.call\(\)"
    r"|[Ii]nput \d{1,3}(?: with name '[^'\n]{1,60}')?"
    r" of layer \"?'?([\w./-]{1,80}?)'?\"? is incompatible"
    r"|[Ii]nput \d{1,3} is incompatible with layer ([\w.-]{1,80}?):"
    r"|Layer #?\d{0,4} ?\(?['\"`](?:named )?([\w./-]{1,80})['\"`]"
)
_FRAME = re.compile(
    r'File "(?P<file>[^"\n]{1,300})", line (?P<line>\d{1,7})(?:, in [^\n]{1,120})?'
    r"(?:\n(?![ \t]*File \"|(?:\w{1,40}\.){0,6}[A-Z]\w{0,60}(?:Error|Exception)\b)"
    r"[ \t]*(?P<source>[^\n]{1,300}))?"
    r"|^[ \t]+(?P<auto>[^\s:][^:\n]{1,200}\.py):(?P<auto_line>\d{1,7}) [\w<>]{1,60}"
    r"(?: {1,3}\*{1,2})?[ \t]*\n[ \t]+(?P<auto_source>[^\n]{1,300})"
    r"|^File (?P<plain>[\w./~-]{1,200}\.py):(?P<plain_line>\d{1,7}), in "
    r"|(?P<input><ipython-input-\d{1,5}-\w{1,20}>) in |(?:Cell In|Input In) ?\[(?P<cell>\d{1,5})\]"
    r"(?:, line (?P<cell_line>\d{1,7}))?",
    re.MULTILINE,
)
_ARROW = re.compile(r"^[ \t>]*-{2,6}> ?(\d{1,7})[ \t]+([^\n]{1,300})", re.MULTILINE)
_ASSERTED = re.compile(
    r"^[ \t>]*(?:-{2,6}> ?)?(?:\d{1,7} +)?assert (?P<condition>[^\n]{2,160})", re.MULTILINE
)
_OTHERS = re.compile(
    r"(?:site|dist)-packages|/lib/python\d|<frozen|<string>|<__array_function__|runfiles"
    r"|tensorflow_core/|/python\d\.\d{1,2}/"
)
_SCRIPT = re.compile(r"^(?!-)[\w./~-]{1,120}\.py$")


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


NOWHERE = Place()
_PACKAGE = re.compile(
    r"(?:site|dist)-packages[/\\]+(?P<package>\w{2,40})(?P<file>(?:[/\\]+[\w.-]{1,60}){0,9})\.py(?=[\"',:\]]| in\b)"
    r"|(?P<own>File \"(?!<frozen|[^\"\n]{0,200}(?:/lib/python\d|-packages|runfiles))[^\"\n]{1,200}\", line \d|<ipython-input|Cell In ?\[|Input In ?\[|ipykernel_\d)"
)
_WRAPPERS = re.compile(
    r"lazy_loader|module_wrapper|deprecation_wrapper|traceback_utils|import_util"
)
_INNER = {"tensorflow_core": "tensorflow", "tensorflow_api": "tensorflow"}


def library_at(text: str) -> tuple[str, str]:
    """The installed package of a text's last frame, and the file; empty where it is none."""
    frames = [each for each in _PACKAGE.finditer(text) if not _WRAPPERS.search(each[0])]
    if not frames or frames[-1]["own"]:
        return "", ""
    package = _INNER.get(frames[-1]["package"], frames[-1]["package"])
    if package == "google" and "protobuf" not in (frames[-1]["file"] or ""):
        return "", ""  # the common roof of many packages
    return package, package + (frames[-1]["file"] or "").replace("\\", "/") + ".py"


class _Frame(NamedTuple):
    line: str
    source: str | None


def place_of(text: str) -> Place:
    """Where the error of a text happened."""
    own, script, raised = None, None, (0, "")
    # The last one stays: a traceback ends at the innermost frame.
    for found in _FRAME.finditer(text):
        if source := found["source"] or found["auto_source"]:
            raised = (found.end(), source.strip())
        frame = _own_frame(found, text)
        if frame is None:
            continue
        own = frame
        file = found["file"] or ""
        if script is None and "<module>" in found[0] and _SCRIPT.match(file):
            script = file
    arrows = [(each.end(), each[2].strip()) for each in _ARROW.finditer(text)]
    return Place(
        raised=max(raised, *arrows)[1] or None if arrows else raised[1] or None,
        own_line=own.line if own else None,
        source=own.source[:LONGEST_SOURCE] if own and own.source else None,
        operation=operation_in(text),
        layer=_layer_in(text),
        condition=_asserted_in(text),
        script=script,
    )


def place_near(text: str, line: int) -> Place:
    """Where the error on a line of a text happened: by the traceback that ends there."""
    rows = text.split("\n")
    return place_of("\n".join(rows[max(0, line - LINES_BEFORE) : line + LINES_BEHIND]))


def operation_in(text: str) -> str | None:
    """The operation, or the node of a graph, that a text names first."""
    named = _OPERATION.search(text)
    return next((each for each in named.groups() if each), None) if named else None


def _layer_in(text: str) -> str | None:
    """The layer that an error of Keras names, its type behind it where it is said."""
    # The last one: Keras wraps the error of an inner layer into that of the outer ones.
    layer = None
    for named in _LAYER.finditer(text):
        layer = next(each for each in named.groups() if each)
        if named[2]:
            layer = f"{layer} ({named[2]})"
    return layer


def _asserted_in(text: str) -> str | None:
    """The condition of the last `assert` that a traceback shows before its AssertionError."""
    conditions = _ASSERTED.findall(text) if "AssertionError" in text else []
    return conditions[-1].strip() if conditions else None


def _own_frame(found: re.Match[str], text: str) -> _Frame | None:
    """A frame of the user's own, or None for a library's."""
    file = found["file"] or found["plain"] or found["auto"]
    line = found["line"] or found["plain_line"] or found["auto_line"]
    if file:
        if _OTHERS.search(file):
            return None
        source = found["source"] or found["auto_source"]
        return _Frame(f"{file}:{line}", source.strip() if source else None)
    # A notebook marks the line by an arrow, within the few lines that it shows around it.
    arrow = _ARROW.search(text, found.end(), found.end() + 1500)
    number = found["cell_line"] or (arrow[1] if arrow else None)
    source = arrow[2].strip() if arrow and arrow[1] == number else None
    cell = found["input"] or f"cell {found['cell']}"
    return _Frame(f"{cell}, line {number}" if number else cell, source)
