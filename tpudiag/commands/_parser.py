"""A verb's parser, made from its declared options, and the parsed options by name."""

import argparse
from collections.abc import Iterable, Mapping
from typing import Any, Protocol

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


class Parser(Protocol):
    """The return type of argparse's add_subparsers, which is private."""

    def add_parser(self, name: str, **arguments: Any) -> argparse.ArgumentParser:
        """A parser for one verb."""
        ...


class _Holder(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **arguments: Any) -> argparse.Action:
        """Add an option."""
        ...


def add_verb(parsers: Parser, name: str, verb: Verb, written: Mapping[str, Any]) -> None:
    """The parser of a verb."""
    parser = parsers.add_parser(
        name,
        help=verb.help,
        description=verb.description,
        epilog=verb.epilog,
        usage=verb.usage,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser, name)
    parser.set_defaults(**written)


def add_options(parser: argparse.ArgumentParser, verb: str, without: Iterable[str] = ()) -> None:
    """The options of a verb: first those without a group, last those of the report."""
    shown = verbs.options(verb, "people")
    order = {"": 0, ONE_OF: 0, REPORT: 2}
    groups: dict[str, _Holder] = {"": parser}
    if any(option.group == ONE_OF for _, option in shown.values()):
        groups[ONE_OF] = parser.add_mutually_exclusive_group()
    for name in sorted(shown, key=lambda name: order.get(shown[name][1].group, 1)):
        kind, option = shown[name]
        if option.people and name not in without:
            if option.group not in groups:
                groups[option.group] = parser.add_argument_group(option.group)
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


def _add(holder: _Holder, name: str, kind: Any, option: Option) -> None:
    names = flags(name, option)
    arguments: dict[str, Any] = {"help": help_of(option).replace("%", "%%") or argparse.SUPPRESS}
    if kind is bool:
        holder.add_argument(*names, dest=name, action="store_true", **arguments)
        return
    values = choices(kind)
    arguments |= {"type": option.kind.parse, "metavar": option.metavar or option.kind.metavar}
    arguments |= {"choices": values} if values else {}
    if not names[0].startswith("-"):
        nargs = {"nargs": option.nargs} if option.nargs else {}
        holder.add_argument(name, **(arguments | {"metavar": names[0]} | nargs))
        return
    if option.repeated:
        arguments["action"] = option.repeated
    default = list(option.default) if option.repeated else option.default
    holder.add_argument(*names, dest=name, default=default, **arguments)
