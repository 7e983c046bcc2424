"""The table of points: whole, and the only place of private names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import tpudiag
from tpudiag.sources.job.points import order, privates, table

PACKAGE = Path(tpudiag.__file__).parent
POINTS = PACKAGE / "sources/job/points"
FILES = [
    path
    for folder in ("sources/job/tensorflow", "monitoring")
    for path in sorted((PACKAGE / folder).rglob("*.py"))
    if POINTS not in path.parents
]
PYTHONS_OWN = {"_getframe", "_current_frames", "_exit", "_replace", "_run_exitfuncs"}
DOCUMENTED = {"_metadata"}
"""What subclasses of pandas' tables are told to set."""
OWN = ("self", "cls", "watch", "owner")
PRIVATE_MODULE = re.compile(r"(tensorflow\.(python|compiler)|keras\.src)\b")
HOOKS = {"around", "before", "after", "span", "stand_in", "added"}


def _made_here(folder: Path) -> set[str]:
    """Names of methods and attributes that the modules of a room give their own objects."""
    nodes = [node for path in folder.glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    stored = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return made | {n.attr for n in stored if ast.unparse(n.value) == "self"}


def private_names(path: Path) -> Iterator[str]:
    """Private attributes of others that a file asks for, and private modules that it names."""
    tree = ast.parse(path.read_text())
    ours = _made_here(path.parent)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr) and node.attr not in ours:
            own = isinstance(node.value, ast.Name) and node.value.id in (
                "self",
                "cls",
                "watch",
                "owner",
            )
            if not own and node.attr not in PYTHONS_OWN | DOCUMENTED:
                yield f"{path.name}:{node.lineno} {ast.unparse(node)}"
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "hasattr"):
            name = node.args[1]
            if isinstance(name, ast.Constant) and _is_private(str(name.value)):
                yield f"{path.name}:{node.lineno} {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and PRIVATE_MODULE.match(str(node.value)):
            yield f"{path.name}:{node.lineno} {node.value!r}"


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and "tpudiag" not in name


def test_private_names_stand_in_the_room_of_points_alone() -> None:
    assert [name for path in FILES for name in private_names(path)] == []


def test_a_library_is_hooked_by_a_row_alone() -> None:
    """No call of the hooks names its place itself, and no name of a module is given a value."""
    bare: list[str] = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            owner, name = ast.unparse(node.func.value), node.func.attr
            if owner == "hooks" and name in HOOKS and isinstance(node.args[1], ast.Constant):
                bare.append(f"{path.name}:{node.lineno}")
    assert bare == []


def test_rows_are_told_apart_and_say_why() -> None:
    rows = table.rows()
    assert len(rows) >= 100
    assert all(row.why and row.names for row in rows.values())
    found = [(row.name, row.why) for row in rows.values() if row.owners]
    assert len(set(found)) == len(found)
    assert all(row.why for row in privates.rows().values())


@pytest.mark.parametrize(
    ("name", "private"),
    [("DATASET_READ", False), ("REBATCHED", True), ("LOOP_IN_GRAPH", True), ("QUIT", True)],
)
def test_what_is_private_is_known_by_its_name(name: str, private: bool) -> None:
    assert table.rows()[name].private is private


def test_each_row_has_a_subscriber() -> None:
    texts = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    used = set(re.findall(r"\b(?:table|points)\.([A-Z][A-Z0-9_]*)", texts))
    assert set(table.rows()) - used == set()
    known = set(re.findall(r"\bprivates\.([A-Z][A-Z0-9_]*)", texts)) | {"INPUTS"}
    assert set(privates.rows()) - known == set()


def test_the_stated_order_names_modules_that_are_there() -> None:
    for each in order.INNER_TO_OUTER:
        path = PACKAGE / "sources/job" / each.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), each
