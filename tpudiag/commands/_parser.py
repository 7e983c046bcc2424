"""The parsers of the verbs, made from their declared options."""

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from tpudiag.options import verbs
from tpudiag.options.option import ONE_OF, REPORT, Option, choices, flags, help_of
from tpudiag.printing import say_whole
from tpudiag.version import __version__

VERBS = {
    "check": "run a job under observation, on the TPU or rehearsed without one",
    "fix": "change the script so that its findings are gone, proven by a rehearsal",
    "read": "report on a TensorBoard profile",
    "attach": "capture a profile of running trainers and report on it",
    "watch": "follow the throughput of a running job; raise alerts",
    "plan": "recommend a TPU and a batch, by the TPU compiler",
    "compare": "compare two profiles or reports; a gate for CI",
    "alerts": "alert policies in Cloud Monitoring, as code",
    "explain": "explain a check, an error message or a log",
    "render": "write a saved report in another format",
    "mcp": "serve the verbs to an agent or editor (Model Context Protocol, stdio)",
}
"""The verbs, each with its line in the help; the rest of its help is in its module."""

EPILOG = """\
examples:
  tpudiag check                        rehearse the reference job for a v5e-8
  tpudiag check --for v6e-8 -o r.json  for another TPU, the report also as JSON
  tpudiag fix train.py                 the changes that fix its findings, proven
  tpudiag plan --for v5e-8,v6e-8       recommend a TPU and a batch, by the TPU compiler
  tpudiag read logs/                   report on a TensorBoard profile
  tpudiag attach localhost:6009        the same for a running trainer
  tpudiag watch tpudiag-logs           follow a running job, raise alerts
  tpudiag mcp                          the verbs for agents and editors
  tpudiag explain TPU101               explain a check; --log FILE explains errors

exit codes: 0 nothing at or above --fail-on failed, 1 something did, 2 usage error or nothing
could be diagnosed.
"""


Add = Callable[..., argparse.Action]
"""`add_argument` of a parser, or of a group of its options."""


class Parser(argparse.ArgumentParser):
    """A parser (its subcommands' too) whose error messages are sanitised."""

    def _print_message(self, message: str, file: Any = None) -> None:
        if message and file is sys.stderr:
            say_whole(message)
        elif message:
            super()._print_message(message, file)


def build_parser(
    only: str | None = None, written: Mapping[str, Any] | None = None
) -> argparse.ArgumentParser:
    """The parser of all verbs, or of one; importing a verb's module must stay cheap.

    `written`: what a settings file says in place of the defaults.
    """
    parser = Parser(
        prog="tpudiag",
        description="Finds what is wrong with a TensorFlow training job on TPU.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"tpudiag {__version__}")
    # Without `prog` argparse formats a usage line to find it, and imports shutil for its width.
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True, prog=parser.prog)
    for verb in VERBS if only is None else (only,):
        module = import_module(f"tpudiag.commands.{verb}")
        added = verbs.add_parser(
            verb,
            help=VERBS[verb],
            description=module.__doc__,
            epilog=module.EPILOG,
            usage=getattr(module, "USAGE", None),
            allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        add_options(added, verb)
        added.set_defaults(**(written or {}))
    return parser


def split_arguments(arguments: list[str]) -> tuple[list[str], list[str]]:
    """What stands before `--`, and what follows: the script's own arguments."""
    if "--" not in arguments:
        return arguments, []
    at = arguments.index("--")
    return arguments[:at], arguments[at + 1 :]


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
