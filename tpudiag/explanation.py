"""What there is to know about a check, from its docstring: for `explain`, HTML, SARIF and README.

Checks of this package are described from their source text, so that `explain` need not import
them and all that they need.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tpudiag.model import Check, Severity

HEADINGS = ("What it sees", "Why it costs", "What to do", "Source")
_HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)
_DECORATOR = re.compile(r'^@check\(\s*"(\w+)"', re.MULTILINE)


@dataclass(frozen=True)
class Explanation:
    """A check in words; the body is Markdown under four headings."""

    id: str
    name: str
    severity: Severity
    title: str
    body: str

    @property
    def sections(self) -> tuple[tuple[str, str], ...]:
        """Heading and text of each part of the body."""
        _, *parts = _HEADING.split(self.body)
        return tuple(
            (heading.strip(), text.strip())
            for heading, text in zip(parts[::2], parts[1::2], strict=True)
        )


def of(check: Check) -> Explanation:
    """The explanation of a check at hand."""
    return _made(check.id, check.name, check.severity, check.doc)


def explanations() -> tuple[Explanation, ...]:
    """Those of all checks, by id."""
    found = [_parsed(text) for _, text in _sources()]
    return tuple(sorted((*found, *_foreign()), key=lambda e: e.id))


def find(word: str) -> Explanation | None:
    """The explanation of the check with this id or name; None where there is none."""
    id_, name = word.upper(), word.lower()
    for stem, text in _sources():
        declared = _DECORATOR.search(text)
        if declared and (declared[1] == id_ or stem.replace("_", "-") == name):
            return _parsed(text)
    return next((e for e in _foreign() if name in (e.id.lower(), e.name)), None)


@cache
def _sources() -> tuple[tuple[str, str], ...]:
    """Name and text of each file of checks."""
    folder = files("tpudiag.checks")
    return tuple(
        (file.name.removesuffix(".py"), file.read_text(encoding="utf-8"))
        for file in folder.iterdir()
        if file.name.endswith(".py") and not file.name.startswith("_")
    )


def _parsed(text: str) -> Explanation:
    """The check in a file of checks."""
    for node in ast.parse(text).body:
        for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            match node, decorator:
                case ast.FunctionDef(name=name), ast.Call(
                    func=ast.Name(id="check"),
                    args=[ast.Constant(value=str(id_)), ast.Attribute(attr=label), *_],
                ):
                    doc = ast.get_docstring(node) or ""
                    return _made(id_, name.replace("_", "-"), Severity[label], doc)
                case _:
                    pass
    raise ValueError("a file of checks without a check")


def _foreign() -> Iterator[Explanation]:
    """The checks that other packages add."""
    from tpudiag.catalogue import foreign_checks

    yield from map(of, foreign_checks())


def _made(id_: str, name: str, severity: Severity, doc: str) -> Explanation:
    """Title and body parted."""
    title, _, body = inspect.cleandoc(doc).partition("\n")
    return Explanation(id_, name, severity, title.strip(), body.strip())
