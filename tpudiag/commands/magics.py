"""`%load_ext tpudiag`: `%%tpudiag_check` and `%tpudiag_read` in a notebook or in IPython.

`%%tpudiag_check` rehearses the session: the cells that ran so far without an error, then the cell
at hand, in a process of their own. The cell at hand is not run in the session itself.
"""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from tpudiag.errors import TpudiagError, UsageError
from tpudiag.sanitized import one_line

if TYPE_CHECKING:
    from tpudiag.diagnoses.job_request import JobRequest
    from tpudiag.model import Report

CHECK = "%%tpudiag_check"


class CellResult(Protocol):
    """IPython's result of a cell."""

    execution_count: int | None
    success: bool
    info: Any


class Session:
    """The cells that ran without an error, by their numbers in the notebook."""

    def __init__(self, shell: Any) -> None:
        self._history: list[str] = shell.history_manager.input_hist_raw
        self._cells = dict(enumerate(self._history))

    def ran(self, result: CellResult) -> None:
        """Record a cell run by IPython; failed ones are skipped."""
        if result.execution_count is None:
            return
        if result.success:
            self._cells[result.execution_count] = result.info.raw_cell
        else:
            self._cells.pop(result.execution_count, None)

    def with_cell(self, line: str, body: str) -> list[str]:
        """The session as a program's cells, the current one last; empty with nothing to run.

        A cell that was run again unchanged counts once, and one that was only checked not at all.
        """
        number = max(len(self._history) - 1, 1)  # IPython records a cell before it runs it
        cells = [""] * number
        for at, source in sorted(self._cells.items()):
            if 0 < at < number and source not in cells and not source.lstrip().startswith(CHECK):
                cells[at - 1] = source
        cells[number - 1] = f"{CHECK} {line}\n{body}"
        return cells


def load(shell: Any) -> None:
    """Register the magics; called by IPython through `load_ipython_extension`."""
    from tpudiag.notebook_display import show_reports

    show_reports(shell)
    session = Session(shell)
    shell.events.register("post_run_cell", session.ran)

    def tpudiag_check(line: str, cell: str) -> Report:
        """Rehearse the session with this cell as if a TPU were there; options as of `check`."""
        return _one_line_errors(lambda: check(session, line, cell))

    def tpudiag_read(line: str) -> Report:
        """Say what a TensorBoard profile holds: `%tpudiag_read logs/`; options as of `read`."""
        return _one_line_errors(lambda: read(line))

    shell.register_magic_function(tpudiag_check, magic_kind="cell")
    shell.register_magic_function(tpudiag_read, magic_kind="line")


def check(session: Session, line: str, cell: str) -> Report:
    """The report on a session and one more cell; raises TpudiagError."""
    from tpudiag import snippets
    from tpudiag.commands import _report
    from tpudiag.commands._progress import progress
    from tpudiag.diagnoses import job

    options = _options("check", line)
    if options.program is not None or options.module is not None:
        raise UsageError(f"{CHECK}: the cells are what is checked; `!tpudiag check` takes a script")
    settings = _report.settings_for(options)
    cells = session.with_cell(line, cell)
    with progress() as on_phase:
        report = job.diagnose(_request(options, cells), settings, on_phase)
    report = snippets.added(report, cells)
    _report.write_files(report, options)
    return report


def read(line: str) -> Report:
    """The report on a profile; raises TpudiagError."""
    from tpudiag import snippets
    from tpudiag.commands import _report
    from tpudiag.commands import read as verb
    from tpudiag.commands._progress import progress
    from tpudiag.diagnoses import profile

    options = _options("read", line)
    if options.list:
        raise UsageError("%tpudiag_read: `!tpudiag read --list` lists the runs")
    settings = _report.settings_for(options)
    with progress() as on_phase:
        report = profile.diagnose(verb.request(options), settings, on_phase)
    report = snippets.added(report)
    _report.write_files(report, options)
    return report


def _request(options: argparse.Namespace, cells: list[str]) -> JobRequest:
    from tpudiag.commands import _job_request
    from tpudiag.diagnoses import notebook_job
    from tpudiag.sources import notebook

    if options.python is None and find_spec("tensorflow") is not None:
        options.python = sys.executable
    name = Path(os.environ.get("JPY_SESSION_NAME") or "notebook").name
    options.module = "notebook"  # a placeholder until the cells replace it
    request = _job_request.of(options)
    program = notebook_job.written(notebook.of_cells(name, cells), request.log_dir)
    return replace(request, program=name, name=name, is_module=False, notebook=program)


def _options(verb: str, line: str) -> argparse.Namespace:
    """The options of a magic, which are those of its verb; raises UsageError."""
    from tpudiag.commands._parser import build_parser, split_arguments

    try:
        own, theirs = split_arguments(shlex.split(line))
        options = build_parser().parse_args([verb, *own])
    except ValueError as error:
        raise UsageError(f"{line}: {error}") from error
    except SystemExit as error:  # argparse has printed the reason
        raise UsageError(f"see `!tpudiag {verb} --help`") from error
    options.arguments = theirs
    return options


def _one_line_errors(diagnose: Callable[[], Report]) -> Report:
    """The report; errors caused by the user become one line, as usual in IPython."""
    try:
        return diagnose()
    except TpudiagError as error:
        usage_error: type[Exception] = import_module("IPython.core.error").UsageError
        raise usage_error(one_line(str(error))) from None
