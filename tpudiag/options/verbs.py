"""The options of each verb by its name, and what is made of them for programs."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Annotated, Any, Literal, ParamSpec, TypedDict, TypeVar

from tpudiag.options import jobs, profiles, watching
from tpudiag.options.kinds import FILE, FOLDER
from tpudiag.options.option import ONE_OF, Option, read
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


OF_VERB: Mapping[str, type] = {
    "check": jobs.Check,
    "fix": jobs.Fix,
    "read": profiles.Read,
    "attach": profiles.Attach,
    "watch": watching.Watch,
    "plan": jobs.Plan,
    "compare": profiles.Compare,
    "alerts": watching.Alerts,
    "explain": Explain,
    "render": Render,
    "mcp": Mcp,
}
KEYWORDS: Mapping[str, type] = {
    "check": jobs.CheckOptions,
    "fix": jobs.FixOptions,
    "read": profiles.ReadOptions,
    "plan": jobs.PlanOptions,
    "compare": profiles.CompareOptions,
}
"""Of the library's functions; what these take besides stands in their own signatures."""
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def options(verb: str, whose: str = "") -> dict[str, tuple[Any, Option]]:
    """Type and option of all that a verb takes by name; `whose`: as people or agents have them."""
    found = read(OF_VERB[verb], verb)
    return {name: (kind, option.of(whose)) for name, (kind, option) in found.items()}


def filled(verb: str, by_name: Mapping[str, Any]) -> dict[str, Any]:
    """The given options completed by defaults; TypeError for an unknown option of the verb."""
    known = {name: option.default for name, (_, option) in read(KEYWORDS[verb], verb).items()}
    for name in by_name:
        if name not in known:
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}")
    return known | dict(by_name)


def request_of(cls: type[T], by_name: Mapping[str, Any], **own: Any) -> T:
    """A request whose fields are the given options of the same names, except its `own`."""
    names = {field.name for field in fields(cls)} - own.keys()  # type: ignore[arg-type]
    taken = {name: by_name[name] for name in names & by_name.keys()}
    return cls(**{name: _frozen(value) for name, value in taken.items()}, **own)


def _frozen(value: Any) -> Any:
    items: Any = value
    return tuple(items) if isinstance(value, list) else value


def keywords(function: Callable[P, R]) -> Callable[P, R]:
    """Gives a function of the library the signature that the options of its verb make."""
    import inspect  # dear, and the command line does without

    verb = function.__name__
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
        for name, (_, option) in read(KEYWORDS[verb], verb).items()
    ]
    plain = inspect.signature(function)
    own = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
    function.__signature__ = plain.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    return function
