"""The report as plain text: for logs, files and pipes; 80 columns, no colour.

Its own words are ASCII wherever it runs; names of the user's stay as they are, with control
characters made visible.
"""

from tpudiag.model import Report

from . import _first_screen

WIDTH = 80


def render(report: Report, verbose: bool = False) -> str:
    """The report as plain text, in short; whole where it is to be verbose."""
    layout = _first_screen.whole if verbose else _first_screen.lines
    rows = ("".join(span.text for span in line).rstrip() for line in layout(report, WIDTH))
    return "\n".join(rows) + "\n"
