"""The house's arrows point down, and there is no circle."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).parents[1]
ROOMS = {
    "tpudiag": TOP / "tpudiag",
    "tpudiag.checks": TOP / "checks",
    "tpudiag.reports": TOP / "reports",
}


@cache
def modules() -> dict[str, Path]:
    """Every module of the package by its name."""
    found: dict[str, Path] = {}
    for name, folder in ROOMS.items():
        for file in folder.rglob("*.py"):
            parts = file.relative_to(folder).with_suffix("").parts
            found[".".join([name, *(p for p in parts if p != "__init__")])] = file
    return found


def imported(module: str) -> Iterator[str]:
    """The modules of the package that a module imports, anywhere but for type checkers."""
    file = modules()[module]
    package = module if file.name == "__init__.py" else module.rpartition(".")[0]
    for node in statements(ast.parse(file.read_text(encoding="utf-8")).body):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                above = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*above, *([base] if base else [])])
            names = [
                f"{base}.{a.name}" if f"{base}.{a.name}" in modules() else base for a in node.names
            ]
        else:
            continue
        yield from (name for name in names if name in modules() and name != module)


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """All statements, but for those for type checkers."""
    for node in body:
        yield node
        typing_only = isinstance(node, ast.If) and "TYPE_CHECKING" in vars(node.test).values()
        for part in ("body", "handlers", "cases", "orelse", "finalbody"):
            if not (typing_only and part == "body"):
                yield from statements(getattr(node, part, []))


@cache
def arrows() -> dict[str, frozenset[str]]:
    return {module: frozenset(imported(module)) for module in modules()}


@pytest.mark.slow
def test_there_is_no_circle() -> None:
    done: set[str] = set()

    def follow(module: str, path: tuple[str, ...]) -> None:
        assert module not in path, " -> ".join([*path[path.index(module) :], module])
        if module not in done:
            for other in sorted(arrows()[module]):
                follow(other, (*path, module))
            done.add(module)

    for module in sorted(arrows()):
        follow(module, ())


FORBIDDEN = [
    (
        "tpudiag.sources",
        (
            "tpudiag.diagnoses",
            "tpudiag.commands",
            "tpudiag.checks",
            "tpudiag.reports",
            "tpudiag.engine",
            "tpudiag.catalogue",
        ),
    ),
    (
        "tpudiag.monitoring",
        ("tpudiag.diagnoses", "tpudiag.commands", "tpudiag.checks", "tpudiag.reports"),
    ),
    ("tpudiag.signals", ("tpudiag.sources", "tpudiag.diagnoses", "tpudiag.monitoring")),
    (
        "tpudiag.checks",
        (
            "tpudiag.sources.job",
            "tpudiag.sources.profile",
            "tpudiag.sources.live",
            "tpudiag.diagnoses",
            "tpudiag.commands",
            "tpudiag.reports",
        ),
    ),
    (
        "tpudiag.reports",
        ("tpudiag.sources", "tpudiag.diagnoses", "tpudiag.commands", "tpudiag.checks"),
    ),
    ("tpudiag.commands", ("tpudiag.monitoring", "tpudiag.checks")),
    ("tpudiag.diagnoses", ("tpudiag.commands", "tpudiag.checks", "tpudiag.reports")),
    (
        "tpudiag.fixes",
        ("tpudiag.sources", "tpudiag.diagnoses", "tpudiag.commands", "tpudiag.checks"),
    ),
    ("tpudiag.library", ("tpudiag.commands", "tpudiag.mcp_server")),
    ("tpudiag.mcp_server", ("tpudiag.commands", "tpudiag.checks", "tpudiag.reports")),
]


@pytest.mark.parametrize(("room", "above"), FORBIDDEN, ids=[room for room, _ in FORBIDDEN])
def test_no_arrow_points_back_up(room: str, above: tuple[str, ...]) -> None:
    wrong = [
        f"{module} -> {other}"
        for module, others in arrows().items()
        if module == room or module.startswith(f"{room}.")
        for other in others
        if any(other == name or other.startswith(f"{name}.") for name in above)
    ]
    assert wrong == []
