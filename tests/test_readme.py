"""The README is true: its table, its commands, its figures."""

import re
import shlex
from pathlib import Path

import pytest

import tpudiag
from tests.readme import PAGES, README, made
from tpudiag import engine, explanation
from tpudiag.catalogue import renderer_names
from tpudiag.commands._parser import build_parser, split_arguments
from tpudiag.commands._report import ENDINGS
from tpudiag.explanation import HEADINGS
from tpudiag.model import Check, Verdict
from tpudiag.settings import Settings
from tpudiag.signals import Batch, Origin, Signals

TEXT = README.read_text(encoding="utf-8")
TEXTS = {page: page.read_text(encoding="utf-8") for page in PAGES}
ALL = "\n".join(TEXTS.values())
BLOCKS = "\n".join(re.findall(r"^```\w*\n(.*?)^```", ALL, re.MULTILINE | re.DOTALL))
FENCED = re.findall(r"^(?:\$ |\s*- run: )?(tpudiag [^|#\n]+)", BLOCKS, re.MULTILINE)
COMMANDS = sorted({c.strip() for c in (*re.findall(r"`(tpudiag [^`|]+)`", ALL), *FENCED)})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_generated_parts_are_current(page: Path) -> None:
    assert made(TEXTS[page]) == TEXTS[page]


def test_the_readme_is_read_in_a_minute() -> None:
    assert len(TEXT.splitlines()) <= 200


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


def test_what_the_pages_call_is_in_the_library() -> None:
    called = set(re.findall(r"tpudiag\.(\w+)\(", ALL))
    public = {name for name in tpudiag.__all__ if callable(getattr(tpudiag, name))}
    assert called <= public
    assert {"check", "read", "load", "render", "track", "ThroughputCallback"} <= called


def test_every_format_is_told_with_its_ending() -> None:
    told = dict(re.findall(r"^\| `(\.\w+)` \| `(\w+)` \|", ALL, re.MULTILINE))
    assert told == {ending: name for ending, name in ENDINGS.items() if name != "text"}
    assert {"rich", "text", *told.values()} == set(renderer_names())


def example() -> Check:
    """The check of the README's page on writing one."""
    (source,) = re.findall(r"^```python\n(from tpudiag\.model.*?yield seen\n)```", ALL, re.M | re.S)
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
    signals = Signals(origin=Origin.REHEARSAL, batch=batch)
    (outcome,) = engine.examine(signals, [example()], Settings(limits=limits))
    assert outcome.verdict is verdict
    assert tuple(heading for heading, _ in explanation.of(example()).sections) == HEADINGS
    assert example().name == "tiny-batch"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_shows_are_there(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", TEXTS[page]):
        assert (page.parent / target).exists() or target.startswith("checks/"), target
    for script in re.findall(r"python (tests/\S+\.py)", TEXTS[page]):
        assert (README.parent / script).is_file(), script
