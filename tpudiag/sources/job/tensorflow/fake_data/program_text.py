"""What the job's own text tells of its data: the classes that names of its files carry."""

from __future__ import annotations

import ast
import contextlib
import linecache
import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from tpudiag.sources.job.points import user_lines

CLASSES = ("class_a", "class_b")
"""Classes of examples where the text tells none."""
_NAMED = re.compile(r"class|label|categor", re.I)
_WORD = re.compile(r"[A-Za-z][\w ]{1,40}")
_NUMBER = re.compile(r"""re\.\w+\(\s*r?["']([\w-]{1,20})\((?:\[0-9\]|\\d)[*+]\)""")
_MOST = 32


def sources() -> list[str]:
    """The text of the program and of the user's modules that were imported so far."""
    files = dict.fromkeys(user_lines.user_files())
    frame: Any = sys._getframe()  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        if user_lines.is_user_file(frame.f_code.co_filename):
            files[frame.f_code.co_filename] = None
        frame = frame.f_back
    return [with_cells("".join(linecache.getlines(file))) for file in files]


def with_cells(text: str) -> str:
    """A program with what its `get_ipython().run_cell_magic(...)` run, at its end."""
    if "run_cell_magic" not in text:
        return text
    try:
        calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    except (SyntaxError, ValueError):
        return text
    cells = [
        call.args[2].value
        for call in calls
        if isinstance(call.func, ast.Attribute)
        and call.func.attr == "run_cell_magic"
        and len(call.args) > 2
        and isinstance(call.args[2], ast.Constant)
    ]
    return "\n".join([text, *(cell for cell in cells if isinstance(cell, str))])


def trees(texts: Iterable[str]) -> Iterator[ast.Module]:
    """The texts that are Python, as this Python reads it."""
    for text in texts:
        # Some are of another Python, or a notebook's cell in another language.
        with contextlib.suppress(SyntaxError, ValueError):
            yield ast.parse(text)


def classes(texts: Iterable[str]) -> tuple[str, ...]:
    """Classes that a script lists by that name."""
    nodes = (node for tree in trees(texts) for node in ast.walk(tree))
    assigned = (node for node in nodes if isinstance(node, ast.Assign))
    listed = dict.fromkeys(name for node in assigned for name in _listed(node))
    return tuple(listed)[:_MOST] if len(listed) > 1 else CLASSES


def before_number(texts: Iterable[str]) -> str:
    """What stands before the number that a script reads off its files' names, as in `-([0-9]*)`."""
    for text in texts:
        searched = _NUMBER.search(text)
        if searched:
            return searched[1]
    return "-"


def _listed(node: ast.Assign) -> list[str]:
    """The names in a list that is called one of classes."""
    names = [target.id for target in node.targets if isinstance(target, ast.Name)]
    if not any(_NAMED.search(name) for name in names):
        return []
    if not isinstance(node.value, (ast.List, ast.Tuple)):
        return []
    words = _words(node.value.elts)
    return words if len(words) == len(node.value.elts) else []


def _words(nodes: Iterable[ast.AST]) -> list[str]:
    """Those of them that are a word as text."""
    return [
        node.value
        for node in nodes
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and _WORD.fullmatch(node.value)
    ]
