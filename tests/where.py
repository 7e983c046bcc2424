"""Where things stand: `python -m tests.where [ID or WORD ...]`, without any all ids.

Of an id the file and line of its check or known error; of a word the modules whose name or first
sentence has it.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
PARTS = ("checks", "reports", "tpudiag")
ROOMS = ("checks", "tpudiag/known_errors")
STANDS = re.compile(
    r"""@check\(\s*"(TPU\d{3})"|(?:\bid\s*[=:]\s*["']?|^\[case\.)([EPNR]\d{1,4})\b""", re.MULTILINE
)
"""An id where it is given, in Python or in a file of data."""


def index() -> Iterator[tuple[str, str]]:
    """Every id with its file and line."""
    for room in ROOMS:
        for file in sorted((TOP / room).rglob("*")):
            if file.suffix in {".py", ".toml", ".json", ".yaml", ".md", ".txt"}:
                text = file.read_text(encoding="utf-8")
                for found in STANDS.finditer(text):
                    line = text.count("\n", 0, found.end()) + 1
                    yield found[1] or found[2], f"{file.relative_to(TOP)}:{line}"


def modules(word: str) -> Iterator[str]:
    """Every module whose name or first sentence has a word, with that sentence."""
    for file in sorted(file for part in PARTS for file in (TOP / part).rglob("*.py")):
        text = file.read_text(encoding="utf-8")
        if word.lower() not in f"{file.stem} {text[:300]}".lower():
            continue  # nor in the sentence: not parsed
        about = (ast.get_docstring(ast.parse(text)) or "").partition("\n")[0]
        if word.lower() in f"{file.stem} {about}".lower():
            yield f"{file.relative_to(TOP)}: {about}"


def of(wanted: Iterable[str]) -> list[str]:
    """One line for each id, and for each module that a word finds."""
    places = dict(index())
    return [
        line
        for each in wanted
        for line in (
            [f"{each.upper()} {places[each.upper()]}"]
            if each.upper() in places
            else [*modules(each)] or [f"{each}: no id, and no module speaks of it"]
        )
    ]


if __name__ == "__main__":
    wanted = sys.argv[1:] or sorted({id_ for id_, _ in index()})
    print("\n".join(of(wanted)))
