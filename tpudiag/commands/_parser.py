"""A verb's parser, made from its declared options, and the parsed options by name."""

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tpudiag.options import verbs
from tpudiag.options.option import ONE_OF, REPORT, Option, choices, flags, help_of
from tpudiag.records import dataclass


@dataclass(frozen=True, kw_only=True)
class Verb:
    """The texts of a verb on the command line; its options are in `tpudiag.options`."""

    help: str
    description: str | None
    epilog: str
    usage: str | None = None


Add = Callable[..., argparse.Action]
"""`add_argument` of a parser, or of a group of its options."""


def add_verb(
    add: Callable[..., argparse.ArgumentParser], name: str, verb: Verb, written: Mapping[str, Any]
) -> None:
    """The parser of a verb, added to others by their `add_parser`."""
    parser = add(
        name,
        **vars(verb),
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, name)
    parser.set_defaults(**written)


def add_options(parser: argparse.ArgumentParser, verb: str, without: Iterable[str] = ()) -> None:
    """The options of a verb: first those without a group, last those of the report."""
    shown = verbs.options(verb, "people")
    order = {"": 0, ONE_OF: 0, REPORT: 2}
    groups: dict[str, Add] = {"": parser.add_argument}
    if any(option.group == ONE_OF for _, option in shown.values()):
        groups[ONE_OF] = parser.add_mutually_exclusive_group().add_argument
    for name in sorted(shown, key=lambda name: order.get(shown[name][1].group, 1)):
        kind, option = shown[name]
        if option.people and name not in without:
            if option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group).add_argument
            _add(groups[option.group], name, kind, option)
            if kind is bool:
                # In no group: it excludes nothing, and switches off what the settings switch on.
                arguments: dict[str, Any] = {"action": "store_false", "default": argparse.SUPPRESS}
                parser.add_argument(
                    _off(name, option), dest=name, help=argparse.SUPPRESS, **arguments
                )


def _off(name: str, option: Option) -> str:
    """The flag that switches an option off: `--no-offline`; `--dashboard` for `--no-dashboard`."""
    switch = flags(name, option)[-1].removeprefix("--")
    return f"--{switch[3:]}" if switch.startswith("no-") else f"--no-{switch}"


def _add(add: Add, name: str, kind: Any, option: Option) -> None:
    names = flags(name, option)
    arguments: dict[str, Any] = {"help": help_of(option).replace("%", "%%") or argparse.SUPPRESS}
    if kind is bool:
        add(*names, dest=name, action="store_true", **arguments)
        return
    values = choices(kind)
    arguments |= {"type": option.kind.parse, "metavar": option.metavar or option.kind.metavar}
    arguments |= {"choices": values} if values else {}
    if not names[0].startswith("-"):
        nargs = {"nargs": option.nargs} if option.nargs else {}
        add(name, **(arguments | {"metavar": names[0]} | nargs))
        return
    if option.repeated:
        arguments["action"] = option.repeated
    default = list(option.default) if option.repeated else option.default
    add(*names, dest=name, default=default, **arguments)
