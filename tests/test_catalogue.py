"""The units are found, well formed and packaged."""

import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests import made
from tests.commands.called import refused, started
from tpudiag.catalogue import checks, renderer, renderer_names
from tpudiag.model import Check

ROOT = Path(__file__).parents[1]


def test_ids_and_names_are_unique_and_in_order() -> None:
    ids = [check.id for check in checks()]
    assert ids == sorted(set(ids))
    assert len({check.name for check in checks()}) == len(ids)


def test_every_file_of_checks_holds_one_check_of_its_name() -> None:
    files = {file.stem for file in (ROOT / "checks").glob("[!_]*.py")}
    assert {check.function.__name__ for check in checks()} == files
    for check in checks():
        assert Path(inspect.getfile(check.function)).stem == check.function.__name__


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_a_check_is_well_formed(check: Check) -> None:
    assert re.fullmatch(r"TPU\d{3}", check.id)
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", check.name)


@pytest.mark.parametrize("check", checks(), ids=lambda check: check.id)
def test_a_limit_can_be_overridden(check: Check) -> None:
    """A check takes signals and, where it has one, the limit with its default."""
    parameters = list(inspect.signature(check.function).parameters.values())
    assert [p.name for p in parameters] in (["signals"], ["signals", "limit"])
    assert all(p.default is not p.empty for p in parameters[1:])


def test_every_renderer_is_found_and_renders() -> None:
    files = {file.stem for file in (ROOT / "reports").glob("[!_]*.py")}
    assert set(renderer_names()) == files
    assert all(callable(renderer(name)) for name in renderer_names())


def test_every_package_is_in_the_wheel() -> None:
    """A folder that pyproject.toml forgets silently vanishes from the wheel."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    listed = project["tool"]["setuptools"]["packages"]
    found = {
        ".".join(file.parent.relative_to(ROOT).parts)
        for top in ("tpudiag", "checks", "reports")
        for file in (ROOT / top).rglob("*.py")
    }
    expected = {name if name.startswith("tpudiag") else f"tpudiag.{name}" for name in found}
    assert sorted(listed) == sorted(expected)
    unmarked = [
        name for name in found if not (ROOT / name.replace(".", "/") / "__init__.py").is_file()
    ]
    assert not unmarked


def test_every_data_file_is_in_the_wheel() -> None:
    """Templates and schemas that no pattern of pyproject.toml names are missing once installed."""
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = project["tool"]["setuptools"]["package-data"]["tpudiag.reports"]
    top = ROOT / "reports"
    files = [f.relative_to(top) for f in top.rglob("*") if f.is_file() and f.suffix != ".py"]
    data = [file for file in files if "__pycache__" not in file.parts]
    assert len(data) >= 4
    assert [str(f) for f in data if not any(f.match(p) for p in patterns)] == []


@pytest.mark.parametrize("body", ["raise RuntimeError('no')", "bad = 3"])
def test_a_check_of_another_package_that_cannot_be_loaded_is_named(
    tmp_path: Path, body: str
) -> None:
    (tmp_path / "foreign.py").write_text(body + "\n")
    info = made.distribution(tmp_path, "foreign", "1")
    (info / "entry_points.txt").write_text("[tpudiag.checks]\nbad = foreign:bad\n")
    said = refused(started("read", tmp_path, env={"PYTHONPATH": str(tmp_path)}))
    assert "foreign:bad" in said
