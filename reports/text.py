"""The report as plain text: for logs, files and pipes; 80 columns, no colour.

Its own words are ASCII wherever it runs; names of the user's stay as they are, with control
characters made visible.
"""

from __future__ import annotations

from tpudiag.model import Report

from ._layout import lines

WIDTH = 80


def render(report: Report) -> str:
    """The report as plain text."""
    rows = ("".join(span.text for span in line).rstrip() for line in lines(report, WIDTH))
    return "\n".join(rows) + "\n"
