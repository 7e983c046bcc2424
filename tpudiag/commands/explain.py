"""`tpudiag explain`: what a check is about, or what a known error means."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from tpudiag.errors import NothingDiagnosed, UnreadableInput, UsageError

if TYPE_CHECKING:
    from tpudiag.commands._report import Verbs
    from tpudiag.explanation import Explanation
    from tpudiag.known_errors.model import KnownError
    from tpudiag.known_errors.search import Match

EPILOG = """\
examples:
  tpudiag explain                      every check
  tpudiag explain TPU2                 a family
  tpudiag explain TPU101               one check; its name, retracing, does too
  tpudiag explain E19                  one known error
  tpudiag explain --error "Please provide a TPU Name to connect to."
  tpudiag explain --log train.log      of any size; - reads standard input

exit codes: 0 explained; 2 no such check or file, or no known error in the text.
"""
WIDTH = 98
BIG_BYTES = 50_000_000
"""From this size on progress is shown."""
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def add_parser(verbs: Verbs) -> None:
    """The verb's own arguments."""
    parser = verbs.add_parser(
        "explain", help="explain a check, an error message or a log",
        description="Explains a check: what it sees, why it costs, what to do; or finds the known "
        "errors in a text or log, best first, with cause and fix.",
        epilog=EPILOG, allow_abbrev=False, formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    what = parser.add_mutually_exclusive_group()
    what.add_argument("id", metavar="ID", nargs="?", help="a check, a family or a known error")
    what.add_argument("--error", metavar="TEXT", help="the text of an error")
    what.add_argument("--log", metavar="FILE", help="a log in which to look for errors")
    parser.add_argument(
        "--format", choices=("text", "json"), default="text",
        help="how to say it (default: %(default)s)",
    )  # fmt: skip
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Explain; raises UsageError, UnreadableInput and NothingDiagnosed."""
    as_json = options.format == "json"
    if options.error is not None:
        _print(_matched(_in_text(options.error), "the text", as_json))
    elif options.log is not None:
        _print(_matched(_in_log(options.log), options.log, as_json))
    elif options.id is None or re.fullmatch(r"TPU\d?", options.id, re.IGNORECASE):
        _print(_listed((options.id or "TPU").upper(), as_json))
    else:
        _print(_one(options.id, as_json))
    return 0


def _one(word: str, as_json: bool) -> Iterator[str]:
    """One check or known error."""
    from tpudiag import explanation

    found = explanation.find(word)
    if found is not None:
        return iter([_dumps(_check_data(found))]) if as_json else _check(found)
    from tpudiag.known_errors.search import known_errors

    for error in known_errors():
        if error.id == word.upper():
            return iter([_dumps(_error_data(error))]) if as_json else _error(error)
    raise UsageError(f"{word}: no check or known error has this id; `tpudiag explain` lists checks")


def _listed(family: str, as_json: bool) -> Iterator[str]:
    """The checks of a family, one a line."""
    from tpudiag.explanation import explanations

    found = [e for e in explanations() if e.id.startswith(family)]
    if not found:
        raise UsageError(f"{family}: no check has this id or family")
    if as_json:
        yield _dumps([_check_data(each) for each in found])
        return
    wide = max(len(each.name) for each in found)
    for each in found:
        yield f"{each.id}  {each.severity.value:<7}  {each.name:<{wide}}  {each.title}"


def _check(found: Explanation) -> Iterator[str]:
    """A check in full."""
    from tpudiag.xprof_pages import page

    yield _bold(f"{found.id} {found.name}") + f" ({found.severity.value})"
    yield found.title
    for heading, text in found.sections:
        yield f"\n{_bold(heading)}"
        yield from _body(text)
    if opened := page(found.id):
        yield f"\n{_bold('In XProf')}\n  {opened}"


def _body(text: str) -> Iterator[str]:
    """Markdown as plain text: code stands further in, without its fences."""
    in_code = False
    for row in text.splitlines():
        if row.startswith("```"):
            in_code = not in_code
        else:
            yield f"{'    ' if in_code else '  '}{row}".rstrip()


def _check_data(found: Explanation) -> dict[str, object]:
    """A check for programs."""
    from tpudiag.xprof_pages import page

    return {
        "id": found.id, "name": found.name, "severity": found.severity.value,
        "title": found.title, "sections": dict(found.sections), "xprof_page": page(found.id),
    }  # fmt: skip


def _in_text(text: str) -> tuple[Match, ...]:
    """The known errors in a text."""
    from tpudiag.known_errors import search

    return search.match(text)


def _in_log(name: str) -> tuple[Match, ...]:
    """The known errors in a file, or in standard input for `-`; raises UnreadableInput."""
    from tpudiag.known_errors import search

    try:
        if name == "-":
            with open(0, encoding="utf-8", errors="replace", newline="\n", closefd=False) as piped:
                return search.scan_stream(piped)
        with open(name, encoding="utf-8", errors="replace", newline="\n") as stream:  # noqa: PTH123
            return _scanned(stream)
    except OSError as error:
        raise UnreadableInput(f"{name}: {error.strerror or error}") from error


def _scanned(stream: TextIO) -> tuple[Match, ...]:
    """A file's known errors; a large one shows progress on a terminal."""
    from tpudiag.known_errors import search

    size = os.fstat(stream.fileno()).st_size
    if size < BIG_BYTES or not sys.stderr.isatty():
        return search.scan_stream(stream)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading the log", total=size)
        return search.scan_stream(stream, lambda moved: bar.advance(task, moved))


def _matched(found: Sequence[Match], where: str, as_json: bool) -> Iterator[str]:
    """The errors found, best first; raises NothingDiagnosed where there is none."""
    if not found:
        from tpudiag.known_errors.search import known_errors

        raise NothingDiagnosed(f"none of the {len(known_errors())} known errors is in {where}")
    if as_json:
        yield _dumps([_match_data(match) for match in found])
        return
    for number, match in enumerate(found):
        if number:
            yield ""
        yield from _match(match)


def _match(match: Match) -> Iterator[str]:
    """An error that was found: where, cause, fix, where it is known from."""
    places = f"line {match.line}"
    if match.count > 1:
        places = f"{match.count:,} times, lines {match.line:,} to {match.last_line:,}"
    follows = ", follows from another error here" if match.secondary else ""
    yield _bold(f"{match.error.id} ({match.error.level})") + f" {places}{follows}"
    yield f"  > {_clean(match.excerpt)}"
    yield from _cause_and_fix(match.error, _clean(match.message))


def _error(error: KnownError) -> Iterator[str]:
    """A known error in full."""
    yield _bold(f"{error.id} ({error.level})")
    yield from (f"  > {row}" for row in error.example.splitlines())
    yield from _cause_and_fix(error, error.cause)


def _cause_and_fix(error: KnownError, cause: str) -> Iterator[str]:
    """What is behind it, what mends it, and how that is known."""
    yield f"\n{_bold('Cause')}\n{_paragraph(cause)}"
    yield f"\n{_bold('Fix')}"
    yield from (f"    {row}".rstrip() for row in error.fix.splitlines())
    known = ", ".join((error.evidence, *error.citations))
    yield f"\n{_bold('Known from')}\n{_paragraph(known)}"


def _paragraph(text: str) -> str:
    """Lines that fit, two columns in; names stay whole."""
    return textwrap.fill(text, WIDTH, initial_indent="  ", subsequent_indent="  ",
                         break_long_words=False, break_on_hyphens=False)  # fmt: skip


def _match_data(match: Match) -> dict[str, object]:
    """An error that was found, for programs."""
    return _error_data(match.error) | {
        "cause": match.message, "excerpt": match.excerpt, "line": match.line,
        "last_line": match.last_line, "count": match.count, "values": match.values,
        "secondary": match.secondary,
    }  # fmt: skip


def _error_data(error: KnownError) -> dict[str, object]:
    """A known error for programs."""
    return {
        "id": error.id, "level": error.level, "cause": error.cause, "fix": error.fix,
        "citations": error.citations, "evidence": error.evidence,
        "rehearsal_only": error.rehearsal_only,
    }  # fmt: skip


def _clean(text: str) -> str:
    """Text of others, what acts on a terminal made visible."""
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", lambda m: ascii(m[0])[1:-1],
                  text)  # fmt: skip


def _bold(text: str) -> str:
    """Emphasised on a terminal that may show it."""
    plain = not sys.stdout.isatty() or bool(os.environ.get("NO_COLOR"))
    return text if plain else f"{BOLD}{text}{PLAIN}"


def _dumps(data: object) -> str:
    """As JSON."""
    return json.dumps(data, indent=2)


def _print(rows: Iterator[str]) -> None:
    """To stdout; what its encoding lacks is escaped."""
    stream: TextIO = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    for row in rows:
        print(row)
