"""Every option of every verb is told in the README or in docs/."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

import pytest

from tests.readme import PAGES
from tpudiag.cli import build_parser

ALL = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def parsers(parser: argparse.ArgumentParser, name: str = "") -> Iterator[tuple[str, list[str]]]:
    """Each verb with its options, by the longest of their names."""
    actions = parser._actions  # pyright: ignore[reportPrivateUsage]
    yield name, [max(a.option_strings, key=len) for a in actions if a.option_strings]
    for action in actions:
        choices: object = action.choices
        for verb, inner in choices.items() if isinstance(choices, dict) else ():  # pyright: ignore
            if isinstance(inner, argparse.ArgumentParser):
                yield from parsers(inner, f"{name} {verb}".strip())


VERBS = [(name, options) for name, options in parsers(build_parser()) if name]


@pytest.mark.parametrize(("verb", "options"), VERBS, ids=[name for name, _ in VERBS])
def test_every_option_is_documented(verb: str, options: list[str]) -> None:
    unknown = [o for o in options if not re.search(rf"(?<![\w-]){re.escape(o)}(?![\w-])", ALL)]
    assert unknown in ([], ["--help"]), f"tpudiag {verb}: name them in docs/"
