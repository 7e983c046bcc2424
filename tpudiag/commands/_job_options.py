"""The options of the verbs that run a job: which, in which Python, how long, for which compiler."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from tpudiag import job_options
from tpudiag.commands._durations import duration
from tpudiag.job_options import Kind, Option, Verb


def add_target_options(parser: argparse.ArgumentParser, target_help: str) -> None:
    """What runs, and the TPU that it is meant for."""
    parser.add_argument(
        "target",
        metavar="TARGET",
        nargs="?",
        help=target_help,
    )
    parser.add_argument(
        "-m",
        dest="module",
        metavar="MODULE",
        help="run a module as `python -m` does; its arguments follow `--`",
    )
    parser.add_argument(
        "--for",
        dest="for_",
        metavar="TPU",
        help="the TPU it is meant for: v5e-8, v4-8 (default: the TPU found, or v5e-8)",
    )


class _Holder(Protocol):
    """A parser, or a group of its options."""

    def add_argument(self, *names: str, **said: Any) -> argparse.Action:
        """One option more."""
        ...


def add_options(parser: argparse.ArgumentParser, verb: Verb) -> None:
    """How a verb runs its job: the options that are declared in `job_options`."""
    groups: dict[str, _Holder] = {}
    for name, (_, option) in job_options.options(verb).items():
        if option.group and option.group not in groups:
            groups[option.group] = parser.add_argument_group(option.group)
        _add(groups.get(option.group, parser), name, option)


def said(options: argparse.Namespace, verb: Verb) -> dict[str, Any]:
    """What the command line says of them, by their names."""
    return {name: getattr(options, name) for name in job_options.options(verb)}


def add_log_dir(parser: argparse.ArgumentParser, what: str, shown: str = "./tpudiag-logs") -> None:
    """Where a job may leave what is kept of it."""
    parser.add_argument(
        "--log-dir",
        metavar="DIR",
        type=Path,
        default=Path("tpudiag-logs"),
        help=f"{what} (default: {shown})",
    )


def _add(holder: _Holder, name: str, option: Option) -> None:
    """One option."""
    flag, text = job_options.flag(name, option), job_options.help_of(option).replace("%", "%%")
    if option.kind is Kind.SWITCH:
        holder.add_argument(flag, dest=name, action="store_true", help=text)
        return
    holder.add_argument(
        flag,
        dest=name,
        metavar=option.metavar or (None if option.choices else METAVARS.get(option.kind)),
        type=PARSERS.get(option.kind, str),
        choices=option.choices or None,
        default=option.default,
        help=text,
    )


def _count(text: str) -> int:
    """A positive whole number."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


PARSERS: dict[Kind, Callable[[str], Any]] = {
    Kind.COUNT: _count,
    Kind.SECONDS: duration(),
    Kind.SECONDS_OR_NONE: duration(zero=True),
    Kind.PATH: Path,
}
METAVARS = {
    Kind.COUNT: "N",
    Kind.SECONDS: "TIME",
    Kind.SECONDS_OR_NONE: "TIME",
    Kind.PATH: "DIR",
}
