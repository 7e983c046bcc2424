"""A notebook's commands that a rehearsal skips, and the crash caused by that."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from tpudiag.missing_modules import is_of_another_release, known_package, missing
from tpudiag.signals import JobEnd
from tpudiag.sources.notebook import Notebook, SkippedLine

SHORTEST_NAME = 4
"""The least length of a file or folder name that is no common word."""
_NOT_THERE = re.compile(
    r"FileNotFoundError|NotFoundError|NotADirectoryError|No such file|not found|does not exist|"
    r"No files? (?:matched|found)|matched no files|ModuleNotFoundError|empty|No module named"
)
_WORD = r"[^\s'\"`,;()\[\]{}<>|=]"
_PATH = re.compile(rf"['\"`]([^'\"`\n]{{4,400}})['\"`]|({_WORD}*/{_WORD}+)")
"""Quoted text, and words with a slash."""
_ANYWHERE = frozenset(
    ("content", "data", "dataset", "datasets", "home", "kaggle", "input", "root", "train", "test")
)
"""Folders that exist anyway."""
_OF_TODAY = re.compile(r"pip3? install (?!.*(==|git\+|\.whl))")
_COMMAND = re.compile(r"[!%]|get_ipython\(\)")


def behind(
    end: JobEnd | None, skipped: Iterable[SkippedLine], program: str = "", python: str | None = None
) -> SkippedLine | None:
    """The skipped command that caused the crash: its line names what is missing.

    Or it fetches a repository, whose folder the notebook then uses, and a module is missing. What
    brings today's release of a package that is here brings no part which this release lacks.
    """
    if end is None or end.how != "exception" or not _NOT_THERE.search(end.error or ""):
        return None
    module = missing(end) or ""
    is_here = f"'{module}'" in (end.error or "") and is_of_another_release(module, python)
    names = list(_missing_names(end))
    lines = [each for each in skipped if not (is_here and _OF_TODAY.search(each.text))]
    written = (re.escape(name).replace("_", "[-_]") for name in names)
    words = [re.compile(rf"(?<![\w-]){each}(?![\w])") for each in written]
    named = (line for word in words for line in lines if word.search(line.text))
    asked = end.crash.frames[-1].text if end.crash and end.crash.frames else ""
    own = missing(end) and names[0] in asked and not known_package(names[0])
    clones = (line for line in lines if own and "git clone" in line.text)
    rows = "\n".join(row for row in program.split("\n") if "git clone" not in row)
    folders = ((each, re.escape(Path(each.text.split()[-1]).stem)) for each in clones)
    used = (each for each, it in folders if re.search(rf"""["'/]{it}["'/]|cd {it}\b""", rows))
    return next(chain(named, used), None)


def followed(end: JobEnd | None, notebook: Notebook, python: str | None = None) -> JobEnd | None:
    """The end of a notebook, with the command that caused it."""
    command = behind(end, notebook.skipped, notebook.program, python)
    if end is None or command is None:
        return end
    return replace(end, follows_from=f"`{command.text}` (cell {command.cell}, line {command.line})")


def exported(end: JobEnd | None, script: str) -> str | None:
    """One line on a notebook exported as a script with its commands, which are no valid Python;
    None for others."""
    if end is None or not (end.error or "").startswith(("SyntaxError", "IndentationError")):
        return None
    place = end.location
    if place is None or place.cell is not None or Path(place.file).name != Path(script).name:
        return None
    try:
        lines = Path(script).read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return None
    number = place.line or 0
    command = "".join(lines[number - 1 : number]).strip()
    if not _COMMAND.match(command):
        return None
    return (
        f"{script} is a notebook saved as a script: line {number} (`{command}`) is a command of "
        "the notebook's, which Python cannot read. Check the .ipynb itself, or put # before the "
        "lines that begin with ! or %"
    )


def _missing_names(end: JobEnd) -> Iterator[str]:
    """Missing names in an error, the most telling first: a file's name, then its folders."""
    module = missing(end)
    if module is not None:
        yield module.partition(".")[0]
        return
    for quoted, bare in _PATH.findall(end.error or ""):
        for part in reversed((quoted or bare).strip("./:").split("/")):
            stem = part.rstrip("*.:")
            if len(stem) >= SHORTEST_NAME and stem.lower() not in _ANYWHERE:
                yield stem
