"""Where a check or a known error stands: `python -m tests.where [ID ...]`, without an id all."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
ROOMS = ("checks", "tpudiag/known_errors")
STANDS = re.compile(
    r"""@check\(\s*"(TPU\d{3})"|\bid\s*[=:]\s*["']?([EPNR]\d{1,4})\b""", re.MULTILINE
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


def of(ids: Iterable[str]) -> list[str]:
    """One line for each id."""
    places = dict(index())
    unknown = "no check or known error has this id"
    return [
        f"{id_} {places[id_]}" if id_ in places else f"{id_}: {unknown}"
        for id_ in map(str.upper, ids)
    ]


if __name__ == "__main__":
    wanted = sys.argv[1:] or sorted({id_ for id_, _ in index()})
    print("\n".join(of(wanted)))
