"""The options of `explain`, `render` and `mcp`."""

from pathlib import Path
from typing import Annotated, Literal, TypedDict

from tpudiag.options.kinds import FILE, FOLDER
from tpudiag.options.option import ONE_OF, Option
from tpudiag.options.shared import Written


class Explain(TypedDict, total=False):
    """All that `explain` takes."""

    id: Annotated[
        str | None,
        Option(
            "a check, a family or a known error",
            flag="ID",
            nargs="?",
            group=ONE_OF,
            agents="a check, its name, or a known error",
        ),
    ]
    error: Annotated[
        str | None,
        Option(
            "the text of an error; - reads standard input",
            metavar="TEXT",
            group=ONE_OF,
            agents="the text of an error",
        ),
    ]
    log: Annotated[
        str | None,
        Option(
            "a log in which to look for errors",
            metavar="FILE",
            group=ONE_OF,
            agents="a log file",
            in_folder="path",
        ),
    ]
    format: Annotated[Literal["text", "json"], Option("how to say it (default: {})", "text")]


class Render(Written, total=False):
    """All that `render` takes."""

    report: Annotated[
        Path, Option("a report that was saved with -o FILE.json", flag="REPORT", kind=FILE)
    ]


class Mcp(TypedDict, total=False):
    """All that `mcp` takes."""

    folder: Annotated[
        Path,
        Option("the folder to serve (default: the one it is started in)", Path(), FOLDER),
    ]
    python: Annotated[
        str | None,
        Option(
            "the Python of the jobs, as for `check`: an agent cannot name one", metavar="PYTHON"
        ),
    ]
    allow_write: Annotated[
        bool,
        Option("let the agent have `fix` change files of the folder (default: it gets the diff)"),
    ]
