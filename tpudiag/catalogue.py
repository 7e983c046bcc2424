"""Finds the units: the checks of checks/ and of other packages, and the renderers of reports/."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from types import ModuleType

from tpudiag.model import Check, Report

Renderer = Callable[[Report], str]


def _units(package: str) -> Iterator[ModuleType]:
    """The modules of a package of units, in the order of their names."""
    parent = import_module(package)
    for module in sorted(iter_modules(parent.__path__), key=lambda info: info.name):
        if not module.name.startswith("_"):
            yield import_module(f"{package}.{module.name}")


@cache
def checks() -> tuple[Check, ...]:
    """Every check, by id; other packages add theirs by the entry point `tpudiag.checks`."""
    own = [
        value
        for module in _units("tpudiag.checks")
        for value in vars(module).values()
        if isinstance(value, Check)
    ]
    return tuple(sorted((*own, *foreign_checks()), key=lambda check: check.id))


@cache
def foreign_checks() -> tuple[Check, ...]:
    """The checks that other packages add."""
    found = [point.load() for point in entry_points(group="tpudiag.checks")]
    return tuple(value for value in found if isinstance(value, Check))


def renderer(name: str) -> Renderer:
    """The render function of the unit with this name; importing it loads what it needs."""
    module = import_module(f"tpudiag.reports.{name}")
    render: Renderer = module.render
    return render


@cache
def renderer_names() -> tuple[str, ...]:
    """The names of the formats, found without importing them."""
    parent = import_module("tpudiag.reports")
    return tuple(sorted(m.name for m in iter_modules(parent.__path__) if m.name[0] != "_"))
