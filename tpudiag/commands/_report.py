"""Shared by verbs that end in a report: options, output, exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from tpudiag.bounded_files import write_whole
from tpudiag.errors import UsageError
from tpudiag.printing import put_text, say

if TYPE_CHECKING:
    from tpudiag.model import Report
    from tpudiag.settings import Settings


ENDINGS = {
    ".json": "json",
    ".md": "markdown",
    ".html": "html",
    ".sarif": "sarif",
    ".xml": "junit",
    ".txt": "text",
}


PEOPLES = ("rich", "text")
"""Formats that are short by default, and complete with --verbose."""


def check_outputs(options: argparse.Namespace) -> None:
    """Refuse an invalid format or file."""
    from tpudiag.catalogue import renderer_names

    names = renderer_names()
    if options.format is not None and options.format not in names:
        raise UsageError(f"--format {options.format}: not one of {', '.join(names)}")
    for file in options.output:
        if ENDINGS.get(file.suffix.lower()) not in names:
            known = ", ".join(ending for ending, name in ENDINGS.items() if name in names)
            raise UsageError(f"-o {file}: the ending chooses the format; one of {known}")
        refuse_target("-o", file, options)


def refuse_target(option: str, target: Path, options: argparse.Namespace) -> None:
    """Raise UsageError for an output that cannot be written, or would replace an input."""
    if not target.parent.is_dir():
        raise UsageError(f"{option} {target}: the folder {target.parent} does not exist")
    if target.is_dir():
        raise UsageError(f"{option} {target}: is a folder")
    if not os.access(target.parent, os.W_OK | os.X_OK):
        raise UsageError(f"{option} {target}: the folder {target.parent} is not writable")
    for name in _named(options):
        with contextlib.suppress(OSError, ValueError):  # most words are no files
            if os.path.samefile(name, target):  # noqa: PTH121
                raise UsageError(f"{option} {target}: is an input of this run; name another file")


def _named(options: argparse.Namespace) -> Iterator[str]:
    """All words of the command line that may name an input file."""
    for name, value in vars(options).items():
        if name not in ("output", "patch"):
            words = cast("Sequence[object]", value) if isinstance(value, list | tuple) else (value,)
            for word in words:
                if isinstance(word, str | Path):
                    yield str(word)
                    yield str(word).partition("=")[2]  # --config=config.json of a script


def settings_for(options: argparse.Namespace) -> Settings:
    """The working folder's settings, narrowed by --select and --ignore.

    Before long work starts: refuses an id of no check, and an invalid format or file.
    """
    from tpudiag.catalogue import checked_settings

    check_outputs(options)
    return checked_settings(vars(options))


def emit(report: Report, options: argparse.Namespace) -> int:
    """Write the report to stdout and the requested files, report what is missing; the exit code."""
    from tpudiag import snippets

    write(snippets.added(report), options)
    if report.interrupted:
        say("interrupted; the report holds what was seen until then")
    elif report.faults:
        say_each(report.faults)
    elif report.partial is not None:
        say(report.partial)
    return report.exit_code(getattr(options, "fail_on", "never"))


def say_each(lines: Iterable[str]) -> None:
    """Lines on stderr."""
    for line in lines:
        say(line)


def write(report: Report, options: argparse.Namespace) -> None:
    """Write a finished report to stdout and the requested files."""
    # A file that cannot be written is reported last, so that the report itself is not lost.
    failure: UsageError | None = None
    try:
        write_files(report, options)
    except UsageError as error:
        failure = error
    format_ = options.format or ("rich" if sys.stdout.isatty() else "text")
    text = _rendered(report, format_, options.verbose)
    put_text(text if text.endswith("\n") else text + "\n", people=format_ in PEOPLES)
    if failure is not None:
        raise failure


def write_files(report: Report, options: argparse.Namespace) -> None:
    """Write a finished report to each file of -o; UsageError names those that failed."""
    failures: list[str] = []
    for file in options.output:
        try:
            text = _rendered(report, ENDINGS[file.suffix.lower()], options.verbose)
            write_whole(file, text.encode())
        except OSError as error:
            failures.append(f"-o {file}: {error.strerror or error}")
    if failures:
        raise UsageError("; ".join(failures))


def _rendered(report: Report, format_: str, verbose: bool) -> str:
    """The report in a format; only those for people are shortened."""
    from tpudiag.catalogue import renderer

    render = renderer(format_)
    return render(report, verbose=True) if verbose and format_ in PEOPLES else render(report)


def beside_profile(report: Report, path: str, run: str | None = None) -> None:
    """Write the report into the profile's log folder for TensorBoard, with a note on a terminal."""
    from tpudiag import tensorboard_summary

    written = tensorboard_summary.write_beside(report, path, run)
    if written is not None and sys.stderr.isatty():
        say(f"TensorBoard shows this report under Text: {written.parent}")
