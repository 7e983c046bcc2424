"""An option's attributes besides its name and type, and how it is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, get_args, get_origin

from tpudiag.records import dataclass

PEOPLE, AGENTS = "people", "agents"
REPORT = "report"
"""The group of options shown last."""
ONE_OF = "one of"
"""The group of mutually exclusive options; it has no title."""


@dataclass(frozen=True)
class Kind:
    """How a command line text becomes a value, and which values agents may pass."""

    parse: Callable[[str], Any] = str
    metavar: str | None = None
    bounds: Mapping[str, Any] = field(default_factory=dict[str, Any])
    each: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The bounds of each value of a list."""


TEXT = Kind()


@dataclass(frozen=True)
class Option:
    """An option's attributes besides its name and type."""

    default: Any = None
    kind: Kind = TEXT
    help: str = ""
    """The help text; `{}` is replaced by the default. Without a text the option is hidden."""
    shown: str = ""
    """The default as text, where it is not obvious."""
    flag: str = ""
    """Its flag, where that is not the name without its unit; without a dash, a positional
    argument."""
    nargs: str | None = None
    repeated: Literal["", "append", "extend"] = ""
    metavar: str = ""
    group: str = ""
    agents: str = ""
    """The description for agents; options without one are not offered to them."""
    in_folder: Literal["", "program", "module", "path"] = ""
    """What it names inside the folder that agents are restricted to."""
    required: bool = False
    people: bool = True
    """Whether it is on the command line."""
    otherwise: Mapping[str, Mapping[str, Any]] = field(default_factory=dict[str, Any])
    """Differences by verb, and for `people` or `agents`."""

    def of(self, whose: str) -> Option:
        """The option as adapted for a verb, for people or for agents."""
        other = self.otherwise.get(whose)
        return replace(self, **other) if other else self


def read(declared: type, verb: str) -> dict[str, tuple[Any, Option]]:
    """Type and option by name, for a verb."""
    found: dict[str, tuple[Any, Option]] = {}
    # Annotations are not strings there: evaluating them would slow down each start.
    for name, hint in declared.__annotations__.items():
        kind, text, *more = get_args(hint)
        option = replace(more[0] if more else Option(), help=text).of(verb)
        is_unset_switch = kind is bool and option.default is None
        found[name] = kind, replace(option, default=False) if is_unset_switch else option
    return found


def choices(kind: Any) -> tuple[str, ...]:
    """The values of a literal type."""
    return get_args(kind) if get_origin(kind) is Literal else ()


def flags(name: str, option: Option) -> list[str]:
    """The option's flags on the command line, the longest last."""
    return (option.flag or f"--{name.removesuffix('_s').replace('_', '-')}").split()


def help_of(option: Option) -> str:
    """An option's help text, with its default in words."""
    return option.help.replace("{}", option.shown or _in_words(option.default, option.kind))


def _in_words(value: Any, kind: Kind) -> str:
    """A default as text: 7200 s are 2h."""
    if kind.metavar != "TIME" or not isinstance(value, float):
        return str(value)
    for unit, seconds in (("h", 3600), ("m", 60)):
        if value >= 2 * seconds and value % seconds == 0:
            return f"{value / seconds:g}{unit}"
    return f"{value:g}s"
