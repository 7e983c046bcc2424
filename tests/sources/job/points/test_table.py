"""The table of points: whole, and the only place of private names."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import tpudiag
from tpudiag.sources.job.points import files, order, privates, table
from tpudiag.sources.job.points.point import Point

PACKAGE = Path(tpudiag.__file__).parent
ROWS = {name: row for name, row in vars(table).items() if isinstance(row, Point)}
CALLS_OF_FILES = (*files.PYTHON, *files.BY_C_CODE, *files.TENSORFLOW, *files.OF_TENSORS)
OF_FILES = {each.at.name: each.at for each in CALLS_OF_FILES}
PRIVATES = {n: row for n, row in vars(privates).items() if isinstance(row, privates.Private)}
JOB = PACKAGE / "sources/job"
POINTS = JOB / "points"
NAMED = re.compile(r"\b(tensorflow|keras|jax|jaxlib|pandas|h5py)[\w.]*\.(_\w|python|src|compiler)")
OF_NO_JOB = (
    PACKAGE / "sources/compiler/child.py",
    PACKAGE / "fixes/names.py",
    PACKAGE / "sources/job/held_back/child_python/sitecustomize.py",
)
"""Runs with the JAX that tpudiag pins; imports that a script has; any Python that a job starts."""
FILES = [
    path
    for folder in (PACKAGE, PACKAGE.parent / "checks", PACKAGE.parent / "reports")
    for path in sorted(folder.rglob("*.py"))
    if POINTS not in path.parents and path not in OF_NO_JOB
    # The tool's side imports no library that it hooks; names may stand there all the same.
    if {JOB, PACKAGE / "monitoring"} & {*path.parents} or NAMED.search(path.read_text())
]
PYTHONS_OWN = {"_getframe", "_current_frames", "_exit", "_replace", "_run_exitfuncs"}
DOCUMENTED = {"_metadata"}
"""What subclasses of pandas' tables must set."""
PRIVATE_MODULE = re.compile(
    r"(tensorflow|keras|tf_keras|jax|jaxlib|flax|pandas|numpy|h5py|transformers"
    r"|tensorflow_datasets)(\.\w+)*\.(_\w+|python|src|compiler)(\.|$)"
)
ASSIGNED = {"jax", "module", "tf", "keras", "socket", "os", "sys", "io", "linecache", "builtins"}
NO_CALLS = {"argv", "path", "dont_write_bytecode", "stdout", "stderr"}
HOOKS = {"around", "before", "after", "span", "stand_in", "added"}
MAY_BE_PRIVATE = re.compile(r"(?<!self)(?<!cls)\._[a-zA-Z]|attr\(|\.(_|python|src|compiler)\b")
MAY_HOOK = re.compile(
    rf"hooks\.|setattr|[pP]oint\(|\b({'|'.join(sorted(ASSIGNED))})\.[\w.]+ =", re.ASCII
)


@cache
def _nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(ast.parse(path.read_text())))


@cache
def _made_here(folder: Path) -> set[str]:
    """Names of methods and attributes that the modules of a room give their own objects."""
    nodes = [node for path in folder.glob("*.py") for node in _nodes(path)]
    made = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    stored = (n for n in nodes if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store))
    return made | {n.attr for n in stored if getattr(n.value, "id", "") == "self"}


def private_names(path: Path) -> Iterator[str]:
    """Private attributes of others that a file asks for, and private modules that it names."""
    if not MAY_BE_PRIVATE.search(path.read_text()):
        return
    ours = _made_here(path.parent)
    for node in _nodes(path):
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
    """No place of a library is written outside the room of points, and none is given a value."""
    bare: list[str] = []
    for path in FILES:
        for node in _nodes(path) if MAY_HOOK.search(path.read_text()) else ():
            at = f"{path.name}:{getattr(node, 'lineno', 0)} "
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                row = ast.unparse(node.args[0]) if node.args else ""
                hooked = called.startswith("hooks.") and called[6:] in HOOKS
                if (
                    (hooked and (not row or isinstance(node.args[1], ast.Constant)))
                    or called in ("point.point", "hooks.put")
                    or (JOB in path.parents and called in ("point", "Point"))
                    or (called == "setattr" and row.partition(".")[0] in ASSIGNED)
                ):
                    bare.append(at + ast.unparse(node))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Attribute):
                owner = ast.unparse(node.targets[0].value).partition(".")[0]
                if owner in ASSIGNED and node.targets[0].attr not in NO_CALLS:
                    bare.append(at + ast.unparse(node))
    assert bare == []


def test_rows_are_told_apart_and_say_why() -> None:
    rows = ROWS | OF_FILES
    assert len(rows) >= 100
    assert all(row.why for row in rows.values())
    found = [(row.name, row.why) for row in rows.values() if row.owners and row.names]
    assert len(set(found)) == len(found)
    assert all(row.why for row in PRIVATES.values())


def test_each_row_has_a_subscriber() -> None:
    texts = "".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    used = set(re.findall(r"\b(?:table|points)\.([A-Z][A-Z0-9_]*)", texts))
    assert set(ROWS) - used == set()
    known = set(re.findall(r"\bprivates\.([A-Z][A-Z0-9_]*)", texts)) | {"INPUTS", "ITERATIONS"}
    assert set(PRIVATES) - known == set()


def test_the_stated_order_names_modules_that_are_there() -> None:
    for each in order.INNER_TO_OUTER:
        path = PACKAGE / "sources/job" / each.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".py").is_file(), each
