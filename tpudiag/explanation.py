"""A check's explanation, from its docstring: for `explain`, HTML, SARIF and README.

Checks of this package are described from their source text, so that `explain` does not import
them and all that they need.
"""

import ast
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from tpudiag.installs.words import filled
from tpudiag.model import Check, Severity

HEADINGS = ("What it sees", "Why it costs", "What to do", "Source")
_HEADING = re.compile(r"^## +(.+)$", re.MULTILINE)
_CHECK = re.compile(r'^@check\(\s*"(\w+)".*?""".*?"""', re.MULTILINE | re.DOTALL)
"""A check from its decorator to the end of its docstring."""


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


def data(explanation: Explanation) -> dict[str, object]:
    """A check for programs."""
    from tpudiag.xprof_pages import page

    return {
        "id": explanation.id,
        "name": explanation.name,
        "severity": explanation.severity.value,
        "title": explanation.title,
        "sections": dict(explanation.sections),
        "xprof_page": page(explanation.id),
    }


def rows(explanation: Explanation, bold: Callable[[str], str] = str) -> Iterator[str]:
    """A check in full, for people."""
    from tpudiag.xprof_pages import page

    yield bold(f"{explanation.id} {explanation.name}") + f" ({explanation.severity.value})"
    yield explanation.title
    for heading, text in explanation.sections:
        yield f"\n{bold(heading)}"
        in_code = False
        for row in text.splitlines():
            if row.startswith("```"):
                in_code = not in_code
            else:
                yield f"{'    ' if in_code else '  '}{row}".rstrip()
    if opened := page(explanation.id):
        yield f"\n{bold('In XProf')}\n  {opened}"


def of(check: Check) -> Explanation:
    """The explanation of a check at hand."""
    return _made(check.id, check.name, check.severity, check.doc)


def explanations() -> tuple[Explanation, ...]:
    """Those of all checks, by id."""
    own = [_parsed(source) for _, _, source in _sources()]
    return tuple(sorted((*own, *_foreign()), key=lambda e: e.id))


@cache
def by_id() -> Mapping[str, Explanation]:
    """The same by their ids, for renderers."""
    return {each.id: each for each in explanations()}


def find(word: str) -> Explanation | None:
    """The explanation of the check with this id or name; None where there is none."""
    id_, name = word.upper(), word.lower()
    for own_id, own_name, source in _sources():
        if own_id == id_ or own_name == name:
            return _parsed(source)
    return next((e for e in _foreign() if name in (e.id.lower(), e.name)), None)


@cache
def _sources() -> tuple[tuple[str, str, str], ...]:
    sources: list[tuple[str, str, str]] = []
    for file in files("tpudiag.checks").iterdir():
        stem, dot, ending = file.name.partition(".")
        if dot and ending == "py" and not stem.startswith("_"):
            source = _CHECK.search(file.read_text(encoding="utf-8"))
            if source:
                sources.append((source[1], stem.replace("_", "-"), source[0]))
    return tuple(sources)


def _parsed(source: str) -> Explanation:
    """The check whose decorator, head and docstring these are."""
    match ast.parse(source).body:
        case [
            ast.FunctionDef(
                name=name,
                decorator_list=[
                    ast.Call(args=[ast.Constant(value=str(id_)), ast.Attribute(attr=label)])
                ],
            ) as function
        ]:
            doc = ast.get_docstring(function) or ""
            return _made(id_, name.replace("_", "-"), Severity[label], doc)
        case _:
            raise ValueError(f"not a check: {source[:60]}")


def _foreign() -> Iterator[Explanation]:
    from tpudiag.catalogue import foreign_checks

    yield from map(of, foreign_checks().values())


def _made(id_: str, name: str, severity: Severity, doc: str) -> Explanation:
    title, _, body = inspect.cleandoc(filled(doc)).partition("\n")
    return Explanation(id_, name, severity, title.strip(), body.strip())
