"""The tools that agents see: their arguments, by the options of their verbs, and their results."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files
from types import NoneType
from typing import Annotated, Any, Optional, cast, get_args

import msgspec
from msgspec import Meta

from tpudiag.errors import UsageError
from tpudiag.options.option import AGENTS, Option
from tpudiag.options.verbs import options


def _arguments(verb: str) -> type[msgspec.Struct]:
    offered = [
        (name, _told(kind, option), *(() if option.required else (option.default,)))
        for name, (kind, option) in options(verb, AGENTS).items()
        if option.agents
    ]
    return msgspec.defstruct(
        verb.title(), offered, frozen=True, kw_only=True, forbid_unknown_fields=True
    )


def _told(kind: Any, option: Option) -> Any:
    """A type with what agents read of it; bounds are of what is not None."""
    meta = Meta(description=option.agents, **option.kind.bounds)
    # As values, for type checkers take `Annotated[...]` for a type that is written out.
    annotated, optional, several = cast("Any", (Annotated, Optional, Sequence))
    parts = get_args(kind)
    if option.kind.each:
        kind = several[annotated[parts[0], Meta(**option.kind.each)]]
    if NoneType not in parts:
        return annotated[kind, meta]
    documented = annotated[parts[0], meta]
    return optional[documented] if option.default is None else documented


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One verb as agents see it."""

    name: str
    title: str
    description: str
    writes: bool = False
    runs_code: bool = False
    """Whether it runs the user's script."""
    limit_s: float = 2 * 3600.0
    """The time limit: after that it is ended, and the client informed."""

    @cached_property
    def arguments(self) -> type[msgspec.Struct]:
        """What it is called with."""
        return _arguments(self.name)

    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, self-contained."""
        # The protocol wants `type: object` at the root, where msgspec has a reference to a
        # definition.
        made: dict[str, Any] = msgspec.json.schema(self.arguments)["$defs"][self.arguments.__name__]
        return {key: value for key, value in made.items() if key not in ("title", "description")}

    @property
    def output_schema(self) -> dict[str, Any]:
        """The JSON Schema of its result."""
        return EXPLANATION if self.name == "explain" else report_schema()

    def read(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The arguments that a client sent, and what holds for the rest; raises UsageError."""
        try:
            read = msgspec.convert(dict(given or {}), self.arguments)
        except msgspec.ValidationError as error:
            raise UsageError(f"{self.name}: {error}") from error
        return msgspec.structs.asdict(read)


TOOLS = (
    Tool(
        name="check",
        title="Check a training job",
        description="Rehearse a TensorFlow training job on this machine as if the TPU were there, "
        "and report its problems: each finding with its evidence, the user's "
        "line and the fix. Runs the script, shortened, in the project's own Python; "
        "takes a minute or more.",
        runs_code=True,
    ),
    Tool(
        name="fix",
        title="Fix a training script",
        description="Change a training script so that tpudiag's findings are gone, each change "
        "proven by a rehearsal of the changed script: findings gone, nothing new "
        "fails, losses right. Returns the diff, the proof and the gain of each "
        "change; changes no file without `write`, which only a server that was "
        "started with --allow-write grants. Takes several minutes.",
        writes=True,
        runs_code=True,
    ),
    Tool(
        name="read",
        title="Read a profile",
        description="Report on a TensorBoard profile of a TPU or CPU run: where the step "
        "time goes, operations, input, memory, stragglers, and its problems.",
    ),
    Tool(
        name="plan",
        title="Plan TPU and batch",
        description="Recommend a TPU and a batch for a training job by the TPU compiler, "
        "without a TPU: the batches that fit into HBM, and the predicted step. "
        "Takes minutes.",
        runs_code=True,
    ),
    Tool(
        name="compare",
        title="Compare two runs",
        description="Compare two profiles or saved reports: the figures that changed by more "
        "than noise.",
    ),
    Tool(
        name="explain",
        title="Explain a check or an error",
        description="Explain a check (TPU101), a known error (E19), an error's text or the errors "
        "of a log.",
        limit_s=120.0,
    ),
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
