"""The tools that agents see: their arguments, which are their schemas, and what they return."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, Optional, cast, get_args

import msgspec
from msgspec import Meta

from tpudiag import job_options
from tpudiag.errors import UsageError
from tpudiag.job_options import Kind, Option, Verb

Ids = Annotated[tuple[str, ...], Meta(description="ids or families of checks, e.g. TPU101, TPU2")]
Strings = tuple[str, ...]
Whole = Annotated[
    bool,
    Meta(
        description="the whole report; by default plots, figures by step, the compiler's "
        "instructions and the evidence behind passes are left out, which few answers need"
    ),
]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool is called with."""


def _run_options(verb: Verb) -> type[Arguments]:
    """A base for a verb's arguments: the options of its job that agents are offered."""
    fields = [
        (name, _told(kind, _meta(option)), option.default)
        for name, (kind, option) in job_options.options(verb).items()
        if option.agents
    ]
    made = msgspec.defstruct(
        f"{verb.title()}Options", fields, bases=(Arguments,), frozen=True, kw_only=True
    )
    return cast("type[Arguments]", made)


def _told(kind: Any, meta: Meta) -> Any:
    """A type with what is said of it; bounds are of what is not None."""
    parts = [part for part in get_args(kind) if part is not NoneType]
    return Optional[Annotated[parts[0], meta]] if parts else Annotated[kind, meta]  # noqa: UP045


def _meta(option: Option) -> Meta:
    """What agents read of an option, and the least that it may be."""
    match option.kind:
        case Kind.COUNT:
            return Meta(ge=1, description=option.agents)
        case Kind.SECONDS:
            return Meta(gt=0, description=option.agents)
        case Kind.SECONDS_OR_NONE:
            return Meta(ge=0, description=option.agents)
        case _:
            return Meta(description=option.agents)


if TYPE_CHECKING:

    class CheckRun(Arguments, frozen=True, kw_only=True):
        """Options of `check`."""

    class FixRun(Arguments, frozen=True, kw_only=True):
        """Options of `fix`."""

    class PlanRun(Arguments, frozen=True, kw_only=True):
        """Options of `plan`."""
else:
    CheckRun, FixRun, PlanRun = map(_run_options, ("check", "fix", "plan"))


class Check(CheckRun, frozen=True, kw_only=True):
    """Rehearse a TensorFlow training job on this machine as if the TPU were there, and say what is
    wrong with it: each finding with its evidence, the user's line and the fix. Runs the script,
    shortened, in the project's own Python; takes a minute or more."""

    program: (
        Annotated[
            str,
            Meta(
                description="a script (train.py), a notebook or module:function; without it and "
                "`module` the reference job runs"
            ),
        ]
        | None
    ) = None
    module: (
        Annotated[
            str, Meta(description="a module, to be run as `python -m` does, in place of `program`")
        ]
        | None
    ) = None
    arguments: Annotated[Strings, Meta(description="the script's own command line")] = ()
    target: Annotated[
        str, Meta(description="the TPU it is meant for, e.g. v5e-8, v4-32, v6e-8")
    ] = "v5e-8"
    pedantic: Annotated[bool, Meta(description="show findings of low confidence too")] = False
    select: Ids = ()
    ignore: Ids = ()
    whole: Whole = False


class Fix(FixRun, frozen=True, kw_only=True):
    """Change a training script so that tpudiag's findings are gone, each change proven by a
    rehearsal of the changed script: findings gone, nothing new fails, losses right. Answers with
    the diff, the proof and the worth of each change; changes no file without `write`, which only
    a server that was started with --allow-write grants. Takes several minutes."""

    program: (
        Annotated[str, Meta(description="a script (train.py), a notebook or module:function")]
        | None
    ) = None
    module: (
        Annotated[str, Meta(description="a module, as by `python -m`, in place of `program`")]
        | None
    ) = None
    arguments: Annotated[Strings, Meta(description="the script's own command line")] = ()
    target: Annotated[str, Meta(description="the TPU it is meant for, e.g. v5e-8")] = "v5e-8"
    write: Annotated[bool, Meta(description="put the proven changes into the files")] = False
    unsafe: Annotated[
        bool, Meta(description="also changes of the model or batch: widths that fill the tiles")
    ] = False
    pedantic: Annotated[bool, Meta(description="findings of low confidence too")] = False
    select: Ids = ()
    ignore: Ids = ()
    whole: Whole = False


class Read(Arguments, frozen=True, kw_only=True):
    """Say what a TensorBoard profile of a TPU or CPU run holds: where the step time goes,
    operations, input, memory, stragglers, and what is wrong with it."""

    path: Annotated[str, Meta(description="a log folder, a run folder or one *.xplane.pb")]
    run: Annotated[str, Meta(description="this run, not the newest")] | None = None
    step_name: (
        Annotated[
            str,
            Meta(
                description="the event, program or tf.function that is a step, where none is marked"
            ),
        ]
        | None
    ) = None
    top: Annotated[int, Meta(ge=1, description="operations of the table")] = 30
    pedantic: Annotated[bool, Meta(description="show findings of low confidence too")] = False
    select: Ids = ()
    ignore: Ids = ()
    whole: Whole = False


class Plan(PlanRun, frozen=True, kw_only=True):
    """Say which TPU and which batch to take for a training job, by the TPU compiler's word, with no
    TPU: what fits into HBM, and the predicted step. Takes minutes."""

    program: (
        Annotated[
            str,
            Meta(
                description="a script (train.py), a notebook or module:function; without it the "
                "reference job"
            ),
        ]
        | None
    ) = None
    arguments: Annotated[Strings, Meta(description="the script's own command line")] = ()
    targets: Annotated[
        Strings, Meta(min_length=1, description="the TPUs to compare, e.g. v5e-8, v6e-8")
    ] = ("v5e-8",)
    batch: Annotated[
        tuple[Annotated[int, Meta(ge=1)], ...],
        Meta(description="batches for each replica; by default those around the job's own"),
    ] = ()
    examples: (
        Annotated[float, Meta(gt=0, description="examples of the data set: adds hours")] | None
    ) = None
    epochs: Annotated[float, Meta(gt=0)] | None = None
    cost: (
        Annotated[str, Meta(description="a file with prices of a chip-hour, TOML or JSON")] | None
    ) = None
    whole: Whole = False


class Compare(Arguments, frozen=True, kw_only=True):
    """Hold two profiles or saved reports against each other: what changed by more than noise."""

    before: Annotated[
        Strings,
        Meta(min_length=1, description="profiles, or reports saved as .json: what was before"),
    ]
    after: Annotated[Strings, Meta(min_length=1, description="the same of what is now")]
    fail_on_regression: Annotated[
        float, Meta(ge=0, description="the share above which a change is called a regression")
    ] = 0.05
    across_hardware: Annotated[
        bool, Meta(description="compare runs on different TPUs by shares of each chip's peak")
    ] = False
    whole: Whole = False


class Explain(Arguments, frozen=True, kw_only=True):
    """Explain a check (TPU101), a known error (E19), an error's text or the errors of a log."""

    id: Annotated[str, Meta(description="a check, its name, or a known error")] | None = None
    error: Annotated[str, Meta(description="the text of an error")] | None = None
    log: Annotated[str, Meta(description="a log file")] | None = None


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One verb as agents see it."""

    name: str
    title: str
    arguments: type[Arguments]
    writes: bool = False
    runs_code: bool = False
    """Whether it runs the user's script."""
    limit_s: float = 2 * 3600.0
    """How long it may take: after that it is ended, and the client told so."""

    @property
    def description(self) -> str:
        """What it does."""
        return " ".join((self.arguments.__doc__ or "").split())

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, self-contained."""
        # The protocol wants `type: object` at the root, where msgspec has a reference to a
        # definition.
        schema = msgspec.json.schema(self.arguments)
        made: dict[str, Any] = schema["$defs"][self.arguments.__name__]
        return {key: value for key, value in made.items() if key not in ("title", "description")}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its result."""
        return EXPLANATION if self.arguments is Explain else report_schema()

    def read(self, given: Mapping[str, Any] | None) -> Arguments:
        """The arguments that a client sent; raises UsageError."""
        try:
            return msgspec.convert(dict(given or {}), self.arguments)
        except msgspec.ValidationError as error:
            raise UsageError(f"{self.name}: {error}") from error


TOOLS = (
    Tool(name="check", title="Check a training job", arguments=Check, runs_code=True),
    Tool(name="fix", title="Mend a training script", arguments=Fix, writes=True, runs_code=True),
    Tool(name="read", title="Read a profile", arguments=Read),
    Tool(name="plan", title="Plan TPU and batch", arguments=Plan, runs_code=True),
    Tool(name="compare", title="Compare two runs", arguments=Compare),
    Tool(name="explain", title="Explain a check or an error", arguments=Explain, limit_s=120.0),
)
EXPLANATION: dict[str, Any] = {
    "type": "object",
    "properties": {
        "checks": {"type": "array", "items": {"type": "object"}},
        "errors": {"type": "array", "items": {"type": "object"}},
    },
    "required": ["checks", "errors"],
    "additionalProperties": False,
}


def tool(name: str) -> Tool:
    """The tool of this name; raises UsageError."""
    for each in TOOLS:
        if each.name == name:
            return each
    raise UsageError(f"{name}: no such tool; there are {', '.join(t.name for t in TOOLS)}")


def report_schema() -> dict[str, Any]:
    """That of the JSON report."""
    schema: dict[str, Any] = json.loads(
        files("tpudiag.reports").joinpath("report-v1.schema.json").read_text(encoding="utf-8")
    )
    return schema
