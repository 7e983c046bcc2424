"""Discovers the checks of checks/ and of other packages, and the renderers of reports/."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any

from tpudiag.errors import UsageError
from tpudiag.model import Check, Report

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from tpudiag.settings import Settings

ENTRY_POINTS = "tpudiag.checks"
"""The group of entry points by which other packages add checks."""
Renderer = Callable[..., str]
"""(report) -> text; those for people take `verbose` too."""


def _units(package: str) -> tuple[str, ...]:
    """The names of a package's units, sorted; found without importing them."""
    modules = iter_modules(import_module(package).__path__)
    return tuple(sorted(module.name for module in modules if module.name[0] != "_"))


@cache
def checks() -> tuple[Check, ...]:
    """Every check, by id; other packages add theirs by the entry point `tpudiag.checks`."""
    own = [
        value
        for name in _units("tpudiag.checks")
        for value in vars(import_module(f"tpudiag.checks.{name}")).values()
        if isinstance(value, Check)
    ]
    by_id = {check.id: check for check in own}
    for name, check in foreign_checks().items():
        if check.id in by_id:
            raise UsageError(f"{name}: {check.id} is the id of another check")
        by_id[check.id] = check
    return tuple(by_id[id_] for id_ in sorted(by_id))


@cache
def foreign_checks() -> dict[str, Check]:
    """The checks that other packages add, by where they come from; raises UsageError."""
    if not any(map(_may_add_checks, sys.path)):
        return {}
    from importlib.metadata import entry_points

    return {point.value: _foreign(point) for point in entry_points(group=ENTRY_POINTS)}


def _may_add_checks(path: str) -> bool:
    """Whether a package of this folder of modules may add checks.

    Almost always none does, and importlib.metadata takes a tenth of a small verb's time.
    """
    folder = Path(path or ".")
    if folder.is_file():
        return True  # an archive: the library can look into it
    try:
        with os.scandir(folder) as entries:
            declared = [_declared(entry.path) for entry in entries if entry.name.endswith("-info")]
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return any(ENTRY_POINTS.encode() in text for text in declared)


def _declared(package: str) -> bytes:
    """The entry points that an installed package declares, as they stand; raises OSError."""
    try:
        return Path(package, "entry_points.txt").read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return b""


def _foreign(point: EntryPoint) -> Check:
    try:
        loaded: object = point.load()
    # Whatever the code of others raises while it is imported.
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"the check {point.value} cannot be loaded: {reason}") from error
    if not isinstance(loaded, Check):
        raise UsageError(f"the check {point.value} is no tpudiag.model.Check")
    return loaded


def checked_settings(by_name: Mapping[str, Any]) -> Settings:
    """The settings of the working folder, narrowed by the given options.

    Raises UsageError for an id or limit of no check.
    """
    from tpudiag.settings import load

    select, ignore = (tuple(by_name.get(name, ())) for name in ("select", "ignore"))
    settings = load(Path.cwd()).narrowed(select, ignore, pedantic=bool(by_name.get("pedantic")))
    ids = {check.id: check for check in checks()}
    for wanted in (*settings.select, *settings.ignore):
        if not any(id_.startswith(wanted) for id_ in ids):
            raise UsageError(f"{wanted}: no check has this id or family")
    for id_ in settings.limits:
        if id_ not in ids:
            raise UsageError(f"{id_}: limits are set for one check, and none has this id")
        if not ids[id_].takes_limit:
            raise UsageError(f"{id_}: this check has no limit to set")
    return settings


def renderer(name: str) -> Renderer:
    """The render function of the unit with this name; importing it loads what it needs."""
    render: Renderer = import_module(f"tpudiag.reports.{name}").render
    return render


def notebook_cell(report: Report) -> str:
    """A report as HTML for the output of a notebook's cell."""
    html: str = import_module("tpudiag.reports.html").cell(report)
    return html


@cache
def renderer_names() -> tuple[str, ...]:
    """The names of the formats."""
    return _units("tpudiag.reports")
