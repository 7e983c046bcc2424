"""The options of the verbs that run a job, each declared once.

A key of a verb's class is an option: its name and type are those of the library's keyword, what
stands beside them is all else that is said of it. The command line (`commands/_job_options.py`),
the library's signatures, the arguments that agents see (`mcp_server/tools.py`) and the page
`docs/options.md` are made of them; a JobRequest takes those that are fields of its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from enum import Enum
from pathlib import Path
from typing import (
    Annotated,
    Any,
    Literal,
    ParamSpec,
    TypedDict,
    TypeVar,
    get_args,
)

from tpudiag.records import dataclass
from tpudiag.reference.options import LOOPS, MODELS, PRECISIONS, LoopName, ModelName, PrecisionName

Verb = Literal["check", "fix", "plan"]
COMPILER = "TPU compiler (the extra `compiler`)"
WRITES = "what a rehearsal may touch"
REFERENCE = "reference job"


class Kind(Enum):
    """How a text of the command line becomes a value."""

    TEXT = "text"
    COUNT = "a number of 1 or more"
    SECONDS = "a time, 2m"
    SECONDS_OR_NONE = "a time, or 0"
    PATH = "a path"
    SWITCH = "a switch"
    CHOICE = "one of some"


@dataclass(frozen=True, kw_only=True)
class Option:
    """What is said of an option beside its name and type."""

    help: str
    """For people; `{}` stands for the default in words."""
    kind: Kind = Kind.TEXT
    default: object = None
    shown: str = ""
    """The default in words, where it is not plain."""
    flag: str = ""
    """That of the command line, where it is not the name without its unit."""
    metavar: str = ""
    group: str = ""
    choices: tuple[str, ...] = ()
    agents: str = ""
    """What agents read of it; those that they do not need are not offered to them."""
    in_verb: Mapping[str, Mapping[str, object]] = field(default_factory=dict[str, Any])
    """By verb: what is otherwise there."""


class Rehearsed(TypedDict, total=False):
    """What every verb takes that runs a job."""

    python: Annotated[
        str | Path | None,
        Option(
            help="the Python of the job: a path, an environment's folder or a command (default: "
            "the active environment, .venv of the project, or the python3 on PATH that has "
            "TensorFlow)",
            metavar="PYTHON",
        ),
    ]
    timeout_s: Annotated[
        float,
        Option(
            help="how long the job may take (default: {})",
            kind=Kind.SECONDS,
            default=900.0,
            agents="how long the job may take",
            in_verb={
                "fix": {"agents": "how long each rehearsal may take"},
                "plan": {
                    "default": 7200.0,
                    "help": "how long the plan may take (default: {})",
                    "agents": "how long the plan may take",
                },
            },
        ),
    ]
    fake_data: Annotated[
        bool,
        Option(
            help="stand in for data that cannot be reached from here: gs:// files, tfds, "
            "keras.datasets, TF Hub",
            kind=Kind.SWITCH,
            default=False,
            agents="stand in for data that cannot be reached (gs://, tfds, keras.datasets)",
        ),
    ]
    in_place: Annotated[
        bool,
        Option(
            help="let the job write its files for real (default: what it writes is thrown away)",
            kind=Kind.SWITCH,
            default=False,
            group=WRITES,
        ),
    ]
    offline: Annotated[
        bool,
        Option(
            help="give the job no network at all (default: what it reads comes, what it sends is "
            "held back)",
            kind=Kind.SWITCH,
            default=False,
            group=WRITES,
            agents="give the job no network at all",
        ),
    ]
    compiler_python: Annotated[
        str | None,
        Option(
            help="the Python that has jax and libtpu, where this one has not",
            metavar="PYTHON",
            group=COMPILER,
        ),
    ]
    compile_timeout_s: Annotated[
        float,
        Option(
            help="how long one compilation may take (default: {})",
            kind=Kind.SECONDS,
            default=600.0,
            group=COMPILER,
        ),
    ]


class Observed(Rehearsed, total=False):
    """What the verbs take besides that look at a job's steps."""

    steps: Annotated[
        int | None,
        Option(
            help="steps to profile (default: {}, fewer where a rehearsal is slow)",
            kind=Kind.COUNT,
            shown="20",
            agents="training steps to observe",
            in_verb={"fix": {"shown": "10"}},
        ),
    ]
    warmup_steps: Annotated[
        int,
        Option(help="steps before them (default: {})", kind=Kind.COUNT, default=5, flag="--warmup"),
    ]
    first_loop: Annotated[
        bool,
        Option(
            help="end a rehearsal after the steps observed (default: go on, shortened)",
            kind=Kind.SWITCH,
            default=False,
            agents="end after the steps observed, not at the script's end",
        ),
    ]
    budget_s: Annotated[
        float,
        Option(
            help="CPU time that the rest of the script may take in a rehearsal (default: {}), half "
            "as much again where its end is near",
            kind=Kind.SECONDS_OR_NONE,
            default=180.0,
            agents="CPU time that the rest of the script may take",
        ),
    ]
    tpu_timeout_s: Annotated[
        float,
        Option(
            help="how long each call that reaches for the TPU may take (default: {})",
            kind=Kind.SECONDS,
            default=120.0,
        ),
    ]
    measure_input_s: Annotated[
        float,
        Option(
            help="how long to run a faulty input pipeline, as built and mended (default: {}; 0: "
            "not)",
            kind=Kind.SECONDS_OR_NONE,
            default=10.0,
        ),
    ]
    no_compile: Annotated[
        bool,
        Option(
            help="do not ask it what the step needs on the target",
            kind=Kind.SWITCH,
            default=False,
            group=COMPILER,
            agents="do not ask the TPU compiler what the step needs: faster",
        ),
    ]


class OfReference(TypedDict, total=False):
    """Which job runs where none is named."""

    reference: Annotated[
        ModelName,
        Option(
            help="mlp, resnet50, bert or vit (default: {})",
            kind=Kind.CHOICE,
            default="mlp",
            metavar="MODEL",
            choices=MODELS,
            group=REFERENCE,
        ),
    ]
    loop: Annotated[
        LoopName,
        Option(
            help="a train step of its own, or Keras fit (Keras >= 3.8 or tf-keras; default: {})",
            kind=Kind.CHOICE,
            default="custom",
            choices=LOOPS,
            group=REFERENCE,
        ),
    ]
    precision: Annotated[
        PrecisionName,
        Option(
            help="the Keras dtype policy (default: {})",
            kind=Kind.CHOICE,
            default="mixed_bfloat16",
            choices=PRECISIONS,
            group=REFERENCE,
        ),
    ]
    full_size: Annotated[
        bool,
        Option(
            help="the real model, not the one for two CPU cores",
            kind=Kind.SWITCH,
            default=False,
            group=REFERENCE,
        ),
    ]
    checkpoint_dir: Annotated[
        str | None,
        Option(
            help="where it saves and resumes, local or gs:// (default: in the run's folder)",
            metavar="DIR",
            group=REFERENCE,
        ),
    ]


class CheckOptions(Observed, OfReference, total=False):
    """Those of `check`."""

    keep_writes: Annotated[
        str | Path | None,
        Option(
            help="keep what it wrote under DIR, which must be new or empty",
            kind=Kind.PATH,
            group=WRITES,
        ),
    ]


class FixOptions(Observed, total=False):
    """Those of `fix`."""


class PlanOptions(Rehearsed, OfReference, total=False):
    """Those of `plan`."""


OF_VERB: Mapping[Verb, type] = {"check": CheckOptions, "fix": FixOptions, "plan": PlanOptions}
P = ParamSpec("P")
R = TypeVar("R")


def options(verb: Verb) -> dict[str, tuple[Any, Option]]:
    """Type and option by name, as this verb has them."""
    found: dict[str, tuple[Any, Option]] = {}
    # No annotation is a text in this file: what would evaluate them takes its time at each start.
    for name, hint in OF_VERB[verb].__annotations__.items():
        kind, option = get_args(hint)
        found[name] = kind, _as_in(option, verb)
    return found


def _as_in(option: Option, verb: Verb) -> Option:
    """An option with what is otherwise in a verb."""
    other: Mapping[str, Any] = option.in_verb.get(verb, {})
    return replace(option, **other) if other else option


def defaults(verb: Verb) -> dict[str, Any]:
    """What holds where nothing is said."""
    return {name: option.default for name, (_, option) in options(verb).items()}


def filled(verb: Verb, said: Mapping[str, Any]) -> dict[str, Any]:
    """What was said, and what holds for the rest; TypeError for what is no option of the verb."""
    known = defaults(verb)
    for name in said:
        if name not in known:
            raise TypeError(f"{verb}() got an unexpected keyword argument {name!r}")
    return known | dict(said)


def flag(name: str, option: Option) -> str:
    """How an option is called on the command line."""
    return option.flag or f"--{name.removesuffix('_s').replace('_', '-')}"


def help_of(option: Option) -> str:
    """What is said of an option, with its default in words."""
    return option.help.replace("{}", option.shown or _in_words(option))


def _in_words(option: Option) -> str:
    """A default: 7200 s are 2h."""
    value = option.default
    if option.kind not in (Kind.SECONDS, Kind.SECONDS_OR_NONE) or not isinstance(value, float):
        return str(value)
    for unit, seconds in (("h", 3600), ("m", 60)):
        if value >= 2 * seconds and value % seconds == 0:
            return f"{value / seconds:g}{unit}"
    return f"{value:g}s"


def keywords(verb: Verb) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Gives a function of the library the signature that its verb's options make."""

    def signed(function: Callable[P, R]) -> Callable[P, R]:
        import inspect  # dear, and the command line does without

        plain = inspect.signature(function)
        named = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=option.default)
            for name, (_, option) in options(verb).items()
        ]
        own = [p for p in plain.parameters.values() if p.kind is not p.VAR_KEYWORD]
        function.__signature__ = plain.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
        return function

    return signed
