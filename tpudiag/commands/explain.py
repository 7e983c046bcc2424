"""`tpudiag explain`: what a check is about, or what a known error means."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, BinaryIO, TextIO

from tpudiag.errors import NothingDiagnosed, UnreadableInput, UsageError

if TYPE_CHECKING:
    from tpudiag.commands._report import Verbs
    from tpudiag.explanation import Explanation
    from tpudiag.known_errors.model import Match
    from tpudiag.known_errors.unknown import UnknownError

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
SMALL_BYTES = 1 << 20
"""Up to this size a log is read as a text that may be wrapped."""
BIG_BYTES = 50_000_000
"""From this size on progress is shown."""
END_BYTES = 1 << 16
"""The two ends of a log, in which versions and a failure that is not known are looked for."""
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
        _print(_matched(_in_text(options.error), "the text", as_json, options.error))
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
    from tpudiag.commands._known_errors import error_data, error_rows
    from tpudiag.known_errors.catalogue import known_errors

    for error in known_errors():
        if error.id == word.upper():
            return iter([_dumps(error_data(error))]) if as_json else error_rows(error, _bold)
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


def _in_text(text: str) -> list[Match | UnknownError]:
    """The known errors in a text, before them the failure that is none of them."""
    from tpudiag.known_errors import search

    return _with_unknown(search.match(text), text)


def _in_log(name: str) -> list[Match | UnknownError]:
    """The known errors in a file, or in standard input for `-`; raises UnreadableInput."""
    from tpudiag.known_errors import search

    try:
        if name == "-":
            with open(0, "rb", closefd=False) as piped:
                return list(search.scan(piped))
        with open(name, "rb") as stream:  # noqa: PTH123
            if os.fstat(stream.fileno()).st_size <= SMALL_BYTES:
                return _in_text(stream.read().decode(errors="replace"))
            found = _scanned(stream)
            end = stream.tell()
            stream.seek(0)
            ends = stream.read(END_BYTES)
            if end > END_BYTES:
                stream.seek(max(END_BYTES, end - END_BYTES))
                ends += stream.read()
            return _with_unknown(found, ends.decode(errors="replace"))
    except OSError as error:
        raise UnreadableInput(f"{name}: {error.strerror or error}") from error


def _with_unknown(found: Sequence[Match], text: str) -> list[Match | UnknownError]:
    """What was found, for the versions that the text names; before mere remarks, its failure."""
    from tpudiag.known_errors.search import match
    from tpudiag.known_errors.unknown import unknown
    from tpudiag.known_errors.versions import for_versions, versions_in

    versions = versions_in(text)
    found = [for_versions(each, versions) for each in found]
    failures = any(each.error.level == "error" for each in found)
    failure = unknown(text) if found and not failures else None
    if failure is None or any(not each.error.noise for each in match(failure.text)):
        return [*found]
    return [failure, *found]


def _scanned(stream: BinaryIO) -> tuple[Match, ...]:
    """A file's known errors; a large one shows progress on a terminal."""
    from tpudiag.known_errors import search

    size = os.fstat(stream.fileno()).st_size
    if size < BIG_BYTES or not sys.stderr.isatty():
        return search.scan(stream)
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Reading the log", total=size)
        return search.scan(stream, lambda moved: bar.advance(task, moved))


def _matched(
    found: Sequence[Match | UnknownError], where: str, as_json: bool, text: str = ""
) -> Iterator[str]:
    """The errors found, best first; raises NothingDiagnosed where there is none."""
    from tpudiag.commands import _known_errors as shown
    from tpudiag.known_errors.model import Match

    if not found:
        raise NothingDiagnosed(_nothing_in(where, text))
    if as_json:
        yield _dumps(
            [
                shown.match_data(each) if isinstance(each, Match) else shown.unknown_data(each)
                for each in found
            ]
        )
        return
    for number, each in enumerate(found):
        if number:
            yield ""
        if isinstance(each, Match):
            yield from shown.match_rows(each, _bold)
        else:
            yield from shown.unknown_rows(each, _bold)


def _nothing_in(where: str, text: str) -> str:
    """That nothing known was found, and what the text is nearest to."""
    from tpudiag.known_errors.catalogue import known_errors
    from tpudiag.known_errors.unknown import unknown

    line = f"none of the {len(known_errors())} known errors is in {where}"
    failure = unknown(text)
    if failure is None:
        return line
    near = ", ".join(f"{error.id} {error.family}" for error in failure.nearest)
    return f"{line}; it failed {failure.phase.value}" + (f"; nearest: {near}" if near else "")


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
