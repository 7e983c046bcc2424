"""Explains a check: what it sees, why it costs, what to do.

Or finds the known errors in a text or log, best first, with cause and fix.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.printing import BOLD, PLAIN, json_text, put_emphasised

if TYPE_CHECKING:
    from tpudiag.known_errors.model import Match
    from tpudiag.known_errors.search import Stream

EPILOG = """\
examples:
  tpudiag explain                      every check
  tpudiag explain TPU2                 a family
  tpudiag explain TPU101               one check; its name, retracing, works too
  tpudiag explain E19                  one known error
  tpudiag explain --error "Please provide a TPU Name to connect to."
  tpudiag explain --log train.log      of any size; - reads standard input

exit codes: 0 explained; 2 no such check or file, or no known error in the text (for an unknown
error, the meaning of its kind and the next things to look at are shown).
"""
BIG_BYTES = 50_000_000
"""From this size on there is progress."""


def run(options: argparse.Namespace) -> int:
    """Explain; raises UsageError, UnreadableInput and NothingDiagnosed."""
    as_json = options.format == "json"
    if options.error == "-":  # errors are piped as often as logs
        options.error, options.log = None, "-"
    if options.error is not None or options.log is not None:
        _print(_matched(options.error, options.log, as_json))
    elif options.id is None or re.fullmatch(r"TPU\d?", options.id, re.IGNORECASE):
        _print(_listed((options.id or "TPU").upper(), as_json))
    else:
        _print(_one(options.id, as_json))
    return 0


def _one(word: str, as_json: bool) -> Iterator[str]:
    from tpudiag import explanation

    explained = explanation.find(word)
    if explained is not None:
        return (
            iter([json_text(explanation.data(explained))])
            if as_json
            else explanation.rows(explained, _bold)
        )
    from tpudiag.known_errors.answers import error_data, error_rows
    from tpudiag.known_errors.catalogue import known_errors

    for error in known_errors():
        if error.id == word.upper():
            return iter([json_text(error_data(error))]) if as_json else error_rows(error, _bold)
    if Path(word).is_file():
        raise UsageError(f"{word} is a file, not an id; try: tpudiag explain --log {word}")
    raise UsageError(f"{word}: no check or known error has this id; `tpudiag explain` lists checks")


def _listed(family: str, as_json: bool) -> Iterator[str]:
    """The checks of a family, one a line."""
    from tpudiag.explanation import data, explanations

    listed = [e for e in explanations() if e.id.startswith(family)]
    if not listed:
        raise UsageError(f"{family}: no check has this id or family")
    if as_json:
        yield json_text([data(each) for each in listed])
        return
    wide = max(len(each.name) for each in listed)
    for each in listed:
        yield f"{each.id}  {each.severity.value:<7}  {each.name:<{wide}}  {each.title}"


def _scanned(stream: Stream) -> tuple[Match, ...]:
    """A log's known errors; a large one, or one of unknown size, shows progress on a terminal."""
    from tpudiag.known_errors import search

    fileno = getattr(stream, "fileno", None)  # a pipe whose ends are kept has none
    size = os.fstat(fileno()).st_size if fileno is not None else None
    if (size is not None and size < BIG_BYTES) or not sys.stderr.isatty():
        return search.scan(stream)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading the log", total=size)
        return search.scan(stream, lambda moved: bar.advance(task, moved))


def _matched(text: str | None, log: str, as_json: bool) -> Iterator[str]:
    """The errors of a text or a log, best first; raises NothingDiagnosed where there is none."""
    from tpudiag.known_errors import answers, reader

    matches = reader.in_log(log, _scanned) if text is None else reader.in_text(text)
    if as_json and matches:
        yield json_text([answers.data(each) for each in matches])
    elif matches:
        yield from answers.all_rows(matches, _bold)
    # After the explanation of its kind: for an unknown error the exit code is 2 nevertheless,
    # whatever remarks surround it.
    if not reader.is_answered(matches):
        where = log if text is None else "the text"
        if text and os.path.isfile(text):  # noqa: PTH113  (of a name that is too long, too)
            raise UsageError(f"{text} is a file, not a text; try: tpudiag explain --log {text}")
        raise NothingDiagnosed(reader.nothing_in(where, text or ""))


def _bold(text: str) -> str:
    plain = not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR"))
    return text if plain else f"{BOLD}{text}{PLAIN}"


def _print(rows: Iterator[str]) -> None:
    for row in rows:
        put_emphasised(row)
