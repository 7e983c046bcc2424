"""CONTRIBUTING knows every room of the house."""

import re
from collections.abc import Iterator
from pathlib import Path

TOP = Path(__file__).parents[1]
TEXT = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")


def rooms() -> Iterator[str]:
    """The folders that hold modules, and the modules that stand in none of them."""
    yield from (f"{folder}/" for folder in ("checks", "reports"))
    yield from (file.name for file in (TOP / "tpudiag").glob("[!_]*.py"))
    for folder in (TOP / "tpudiag").rglob("*/"):
        if any(folder.glob("*.py")):
            yield f"{folder.name}/"


def test_every_room_is_named() -> None:
    lacking = [room for room in rooms() if not re.search(rf"(?<![\w]){re.escape(room)}", TEXT)]
    assert not lacking, f"the page that newcomers read does not say what these are for: {lacking}"
