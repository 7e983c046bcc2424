"""The text of the user's files: as a syntax tree, and of one call."""

import ast
import linecache
from functools import lru_cache

from tpudiag.location import Location

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
_CALL_LINES = 12
"""The most lines of one call that are read."""


def of(file: str) -> str:
    """A file's text; empty where it cannot be read."""
    return "".join(linecache.getlines(file))


# A function that is traced anew at each step asks the same of the same script each time.
@lru_cache(maxsize=32)
def parsed(text: str) -> ast.Module | None:
    """A text's syntax tree; None where it is no Python."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return None


def holds(node: ast.AST, line: int) -> bool:
    """Whether a part of a file stands on a line."""
    first: int = getattr(node, "lineno", 0)
    return first <= line <= (getattr(node, "end_lineno", None) or first)


def call_at(place: Location) -> str:
    """The text of the call that begins at a line, up to its last bracket."""
    text, first = "", place.line or 0
    for number in range(first, first + _CALL_LINES):
        text += linecache.getline(place.file, number)
        if text.count("(") <= text.count(")"):
            break
    return text
