"""The README tells the truth: its table, its commands, its figures."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import tpudiag
from tests.readme import README, made
from tpudiag import engine, explanation
from tpudiag.catalogue import checks, renderer_names
from tpudiag.cli import build_parser, split_arguments
from tpudiag.commands._report import ENDINGS
from tpudiag.explanation import HEADINGS
from tpudiag.model import Check, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import Batch, Origin, Signals

TEXT = README.read_text(encoding="utf-8")
FAMILIES = ((0, 5), (100, 9), (200, 14), (300, 3), (400, 7), (500, 9), (600, 6))
IDS = [f"TPU{family + n:03}" for family, count in FAMILIES for n in range(1, count + 1)]
BLOCKS = "\n".join(re.findall(r"^```\w*\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL))
FENCED = re.findall(r"^(?:\$ |\s*- run: )?(tpudiag [^|#\n]+)", BLOCKS, re.MULTILINE)
COMMANDS = sorted({c.strip() for c in (*re.findall(r"`(tpudiag [^`|]+)`", TEXT), *FENCED)})


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


def test_what_the_readme_calls_is_in_the_library() -> None:
    called = set(re.findall(r"tpudiag\.(\w+)\(", TEXT))
    assert called == set(tpudiag.__all__) - {"__version__"}
    assert all(callable(getattr(tpudiag, name)) for name in called)


def test_every_format_is_told_with_its_ending() -> None:
    told = dict(re.findall(r"^\| `(\.\w+)` \| `(\w+)` \|", TEXT, re.MULTILINE))
    assert told == {ending: name for ending, name in ENDINGS.items() if name != "text"}
    assert {"rich", "text", *told.values()} == set(renderer_names())


def test_every_id_that_was_given_is_in_the_table() -> None:
    rows = dict(re.findall(r"^\| (TPU\d{3}) \|.*\| (\w+) \|$", TEXT, re.MULTILINE))
    there = {check.id for check in checks()}
    assert set(rows) == set(IDS) | there
    assert all((state == "there") == (id_ in there) for id_, state in rows.items())


def example() -> Check:
    """The check of the README's page on writing one."""
    (source,) = re.findall(r"^```python\n(\"\"\"TPU900.*?yield seen\n)```", TEXT, re.M | re.S)
    names: dict[str, object] = {}
    exec(source, names)
    (unit,) = [value for value in names.values() if isinstance(value, Check)]
    return unit


@pytest.mark.parametrize(
    ("batch", "limits", "verdict"),
    [
        (None, {}, Verdict.SKIPPED),
        (Batch(32, 4, 8), {}, Verdict.FAILED),
        (Batch(64, 8, 8), {}, Verdict.PASSED),
        (Batch(32, 4, 8), {"TPU900": 4}, Verdict.PASSED),
    ],
)
def test_the_example_of_a_check_works(
    batch: Batch | None, limits: dict[str, float], verdict: Verdict
) -> None:
    signals = Signals(Origin.REHEARSAL, batch=batch)
    (outcome,) = engine.examine(signals, [example()], Settings(limits=limits))
    assert outcome.verdict is verdict
    assert tuple(heading for heading, _ in explanation.of(example()).sections) == HEADINGS
    assert example().name == "tiny-batch"


def test_files_that_the_readme_shows_are_there() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXT):
        assert (README.parent / target).is_file(), target
    for script in re.findall(r"python (tests/\S+\.py)", TEXT):
        assert (Path(README.parent) / script).is_file(), script
