"""The options of `explain`, `render` and `mcp`."""

from pathlib import Path
from typing import Annotated, Literal, TypedDict

from tpudiag.options.kinds import FILE, FOLDER
from tpudiag.options.option import ONE_OF, Option
from tpudiag.options.shared import ReportOutput


class Explain(TypedDict, total=False):
    """All that `explain` takes."""

    id: Annotated[
        str | None,
        "a check, a family or a known error",
        Option(flag="ID", nargs="?", group=ONE_OF, agents="a check, its name, or a known error"),
    ]
    error: Annotated[
        str | None,
        "the text of an error; - reads standard input",
        Option(metavar="TEXT", group=ONE_OF, agents="the text of an error"),
    ]
    log: Annotated[
        str | None,
        "a log to search for errors",
        Option(metavar="FILE", group=ONE_OF, agents="a log file", in_folder="path"),
    ]
    format: Annotated[Literal["text", "json"], "the output format (default: {})", Option("text")]


class Render(ReportOutput, total=False):
    """All that `render` takes."""

    report: Annotated[
        Path, "a report that was saved with -o FILE.json", Option(flag="REPORT", kind=FILE)
    ]


class Mcp(TypedDict, total=False):
    """All that `mcp` takes."""

    folder: Annotated[
        Path,
        "the folder to serve (default: the one it is started in)",
        Option(Path(), FOLDER),
    ]
    python: Annotated[
        str | None,
        "the Python of the jobs, as for `check`: an agent cannot name one",
        Option(metavar="PYTHON"),
    ]
    allow_write: Annotated[
        bool,
        "let `fix` change files of the folder for the agent (default: the agent gets the diff)",
    ]
