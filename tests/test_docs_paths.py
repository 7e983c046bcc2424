"""The files and modules of this repository that its documents name are there."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests import where
from tpudiag.version import __version__

TOP = Path(__file__).parents[1]
DOCUMENTS = (TOP / "CONTRIBUTING.md", TOP / "README.md", *sorted((TOP / "docs").glob("*.md")))
FOLDERS = {each.name for each in (*TOP.iterdir(), *(TOP / "tpudiag").iterdir()) if each.is_dir()}
ROOMS = FOLDERS - {"tpudiag-logs"}  # which runs in a clone leave there
NO_PATHS = {"checks/tiny_batch.py", "tpudiag/alert"}
"""The example of a check, and a label of Cloud Monitoring."""
PATH = re.compile(r"(?<![\w/.-])([\w.-]+(?:/[\w.-]+)+/?)")
MODULE = re.compile(r"(?<![\w.])-m ((?:tpudiag|tests)(?:\.\w+)+)")


def named_paths(text: str) -> set[str]:
    """Paths in backticks and code that begin with one of the repository's own rooms."""
    code = "\n".join(re.findall(r"```.*?```|`[^`\n]+`", text, re.DOTALL))
    paths = {path.rstrip(".") for path in PATH.findall(code)}
    return {path for path in paths if path.split("/")[0] in ROOMS} - NO_PATHS


@pytest.mark.parametrize("document", DOCUMENTS, ids=[file.name for file in DOCUMENTS])
def test_each_path_that_is_named_is_there(document: Path) -> None:
    missing = {
        path
        for path in named_paths(document.read_text(encoding="utf-8"))
        if not any((top / path).exists() for top in (TOP, TOP / "tpudiag"))
    }
    assert missing == set()


def test_each_module_that_is_to_be_run_is_there() -> None:
    modules = {m for file in DOCUMENTS for m in MODULE.findall(file.read_text(encoding="utf-8"))}
    assert modules
    assert {module for module in modules if find_spec(module) is None} == set()


def test_what_machines_install_is_pinned_to_this_version() -> None:
    installs = re.compile(r"^\s*(?:- run: .*|)(?:pip|pipx) install .*(?<![\w/])tpudiag\b.*$", re.M)
    found = [
        line
        for file in DOCUMENTS
        for block in re.findall(r"```yaml\n.*?```", file.read_text(encoding="utf-8"), re.DOTALL)
        for line in installs.findall(block)
    ]
    assert len(found) >= 3
    pinned = re.compile(rf"tpudiag(?:\[\w+\])?=={re.escape(__version__)}(?![\w.])")
    assert [line for line in found if not pinned.search(line)] == []


def test_the_rooms_of_the_house_are_those_of_the_picture() -> None:
    text = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")
    picture = text.split("```")[1]
    named = set(re.findall(r"(?<![\w/])([a-z_]+)/", picture))
    rooms = {each.parent.name for each in (TOP / "tpudiag").rglob("*/__init__.py")}
    assert rooms - named == set(), "name every room in the picture of CONTRIBUTING.md"


def test_an_id_leads_to_its_file() -> None:
    check, error, ported, unknown = where.of(["TPU101", "e19", "P05", "TPU999"])
    assert check.startswith("TPU101 checks/retracing.py:")
    assert error.startswith("E19 tpudiag/known_errors/")
    assert ported.startswith("P05 tpudiag/known_errors/")
    assert unknown == "TPU999: no id, and no module speaks of it"
