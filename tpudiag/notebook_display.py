"""How a notebook and IPython's terminal show a report that is the value of a cell."""

import sys
from typing import Any

from tpudiag.catalogue import notebook_cell, renderer
from tpudiag.model import Report


def show_reports(shell: Any = None) -> None:
    """Let an IPython, that which runs here by default, show reports as they are to be read."""
    if shell is None and "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
    if shell is None:
        return
    formatters = shell.display_formatter.formatters
    formatters["text/html"].for_type(Report, notebook_cell)
    formatters["text/plain"].for_type(Report, _first_screen)


def _first_screen(report: Report, printer: Any, cycle: bool) -> None:
    printer.text("Report(...)" if cycle else renderer("text")(report).rstrip())
