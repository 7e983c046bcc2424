"""The report in colour, for a terminal: the layout of the plain text, as wide as fits."""

import io
import os
import shutil

from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style

from tpudiag.model import Report

from . import _first_screen

WIDEST = 110
NARROWEST = 40

STYLES = {
    name: Style.parse(style)
    for name, style in {
        "": "none",
        "arrow": "blue",
        "bold": "bold",
        "broken": "bold magenta",
        "caret": "bold red",
        "code": "cyan",
        "command": "cyan",
        "cost": "yellow",
        "dim": "dim",
        "error": "bold red",
        "evidence": "none",
        "fix": "bold green",
        "heading": "bold underline",
        "headline": "bold",
        "id": "bold",
        "info": "bold blue",
        "location": "underline",
        "message": "none",
        "note": "dim",
        "passed": "green",
        "skipped": "none",
        "value": "bold",
        "warning": "bold yellow",
    }.items()
}


def render(report: Report, verbose: bool = False) -> str:
    """The report with the terminal's colours, in short or verbose; none where NO_COLOR is set."""
    layout = _first_screen.whole if verbose else _first_screen.lines
    columns = shutil.get_terminal_size().columns
    console = Console(
        # A terminal it is, though not yet: what is made here is written to stdout afterwards.
        file=io.StringIO(),
        force_terminal=True,
        color_system=None if os.environ.get("NO_COLOR") else "auto",
        width=columns,
        legacy_windows=False,
    )
    segments = [
        part
        for line in layout(report, max(NARROWEST, min(columns, WIDEST)))
        for part in (*(Segment(span.text, STYLES[span.style]) for span in line), Segment.line())
    ]
    with console.capture() as captured:
        # Commands and paths are to be copied whole: where they pass the edge, the terminal breaks
        # them.
        console.print(Segments(segments), end="", crop=False, soft_wrap=True)
    return captured.get()
