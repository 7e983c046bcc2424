"""The README tells the truth: its table, its commands, its figures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.readme import README, made
from tpudiag.cli import build_parser, split_arguments

TEXT = README.read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(tpudiag [^`|]+)`", TEXT)))


def test_the_table_of_checks_is_current() -> None:
    assert made(TEXT) == TEXT


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_is_one_that_the_parser_takes(command: str) -> None:
    own, theirs = split_arguments(shlex.split(command)[1:])
    options = build_parser().parse_args(own)
    assert options.verb == shlex.split(command)[1]
    assert bool(theirs) == (" -- " in command)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    ci = (README.parent / ".ci" / "run").read_text(encoding="utf-8")
    commands = [line for line in TEXT.splitlines() if line.startswith("pip install uv &&")]
    assert len(commands) == 2
    assert commands[1] == "pip install uv && uv run pytest"
    assert commands[1] in ci


def test_files_that_the_readme_shows_are_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (README.parent / target).is_file(), target
    for script in re.findall(r"python (tests/\S+\.py)", TEXT):
        assert (Path(README.parent) / script).is_file(), script
