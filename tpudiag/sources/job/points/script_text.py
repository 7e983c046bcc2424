"""The text of the user's files: as a syntax tree, and of one call."""

import ast
import contextlib
import linecache
import re
from functools import lru_cache
from typing import Any

from tpudiag.location import Location

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
LOOPS = (ast.For, ast.AsyncFor, ast.While)
PLAIN_CELLS = frozenset(("time", "timeit", "capture", "prun"))
"""Cell magics that run the cell, and measure or capture its output."""
_OPTIONS = re.compile(r"\A(-\w+(\s*\d+)?\s+)*")
_CALL_LINES = 12
"""The most lines of one call that are read."""


def of(file: str) -> str:
    """A file's text; empty where it cannot be read."""
    return "".join(linecache.getlines(file))


# A function that is traced anew at each step asks the same of the same script each time.
@lru_cache(maxsize=32)
def parsed(text: str) -> ast.Module | None:
    """A text's syntax tree; None where it is no Python."""
    with contextlib.suppress(SyntaxError, ValueError, RecursionError):
        return tree_of(text, "<text>")
    return None


def tree_of(text: str | bytes | ast.Module, file: str, flags: int = 0) -> ast.Module:
    """A script or cell; what a notebook that was exported only times (`%%time`) is its own."""
    tree: ast.Module = compile(text, file, "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
    tree.body = [each for node in tree.body for each in _of_cell(node)]
    return tree


def _of_cell(node: ast.stmt) -> list[ast.stmt]:
    """The statements of `get_ipython().run_cell_magic("time", "", cell)`, on its line.

    Those of `run_line_magic("time", statement)`, and of the older `magic("time statement")`, too.
    """
    call: Any = node.value if isinstance(node, ast.Expr) else None
    shell, _, called = ast.unparse(getattr(call, "func", ast.Pass())).rpartition(".")
    if shell == "get_ipython()" and called in ("run_cell_magic", "run_line_magic", "magic"):
        given = [str(each.value) for each in call.args if isinstance(each, ast.Constant)]
        words = given if len(given) > 1 else ("".join(given) + " ").split(" ", 1)
        plain = len(given) == len(call.args) and words[0] in PLAIN_CELLS
        with contextlib.suppress(SyntaxError):  # it holds another magic
            made = ast.parse(_OPTIONS.sub("", words[-1], count=1) if plain else "%")
            for each in ast.walk(made):
                ast.copy_location(each, node)
            return made.body
    return [node]


def holds(node: ast.AST, line: int) -> bool:
    """Whether a part of a file stands on a line."""
    first: int = getattr(node, "lineno", 0)
    return first <= line <= (getattr(node, "end_lineno", None) or first)


def called(call: ast.Call) -> str:
    """The last part of the name that is called; empty where it has none."""
    return getattr(call.func, "attr", "") or getattr(call.func, "id", "")


def call_at(place: Location) -> str:
    """The text of the call that begins at a line, up to its last bracket."""
    text, first = "", place.line or 0
    for number in range(first, first + _CALL_LINES):
        text += linecache.getline(place.file, number)
        if text.count("(") <= text.count(")"):
            break
    return text
