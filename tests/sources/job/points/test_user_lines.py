"""Which files are the user's."""

import functools
import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tpudiag.sources.job.points import user_lines


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    package = tmp_path / "site-packages" / "garden_of_tests"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(sys, "path", [str(package.parent), *sys.path])
    yield package
    user_lines._own.clear()  # pyright: ignore[reportPrivateUsage]
    user_lines.is_user_file.cache_clear()
    sys.modules.pop("garden_of_tests", None)


def test_a_library_is_the_users_where_its_module_is_the_program(library: Path) -> None:
    file = str(library / "train.py")
    assert not user_lines.is_user_file(file)
    user_lines.own_package("garden_of_tests.vision.train")
    assert user_lines.is_user_file(file)
    assert not user_lines.is_user_file(str(library.parent / "other" / "train.py"))


def test_a_program_that_is_no_package_changes_nothing() -> None:
    user_lines.own_package("no_such_package.train")
    assert not user_lines._own  # pyright: ignore[reportPrivateUsage]


def test_a_function_is_found_within_partials_and_wrappers() -> None:
    def step(x: int, rate: float) -> float:
        return x * rate

    @functools.wraps(step)
    def logged(x: int, rate: float) -> float:
        return step(x, rate)

    once = functools.partial(logged, rate=0.1)
    assert user_lines.unwrapped(functools.partial(once, 1)) is step
    assert user_lines.unwrapped(7) == 7


@pytest.mark.parametrize("values", [[[1.0, 2.0]], "rows", {}.values, ()])
def test_only_the_values_of_replicas_have_a_first_one(values: object) -> None:
    rows = SimpleNamespace(values=values)  # as those of sparse, ragged and sliced tensors
    assert user_lines.first_replica_value(rows) is rows
    assert user_lines.first_replica_value(SimpleNamespace(values=(rows, values))) is rows


def test_the_library_function_that_took_a_users_function_is_named_as_users_do(
    library: Path,
) -> None:
    (library / "__init__.py").write_text("from garden_of_tests.deep import made")
    (library / "deep.py").write_text(
        "def made(function, then):\n    return then()\n\n\ndef ran(then):\n    return then()\n"
    )
    garden = importlib.import_module("garden_of_tests")
    assert garden.made(lambda: 0, user_lines.taker) == "garden_of_tests.made"
    assert garden.deep.ran(user_lines.taker) == ""
    assert user_lines.taker() == ""


def test_a_generator_is_where_its_function_is() -> None:
    def rows() -> Iterator[int]:
        yield 1

    at = user_lines.of_function(rows)
    assert at is not None and user_lines.of_function(rows()) == at
