"""Which Python a job runs in, over real ones: environments with an empty `tensorflow`."""

import os
import sys
import venv
from pathlib import Path

import pytest

from tests.made import distribution
from tpudiag.errors import MissingExtra, TpudiagError, UsageError
from tpudiag.sources.job.process import job_python
from tpudiag.sources.job.process.python_places import Place, named_place, places

VERSION = f"python{sys.version_info[0]}.{sys.version_info[1]}"


def made(folder: Path, **versions: str) -> Path:
    """An environment with these distributions; one called `tensorflow...` can be imported."""
    venv.create(folder, symlinks=True)
    packages = folder / "lib" / VERSION / "site-packages"
    for name, version in versions.items():
        distribution(packages, name, version)
        if name.startswith("tensorflow"):
            (packages / "tensorflow").mkdir(exist_ok=True)
            (packages / "tensorflow" / "__init__.py").write_text("")
    return folder


def program(folder: Path, text: str) -> str:
    """An executable file."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "python3"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return str(file)


@pytest.fixture
def theirs(tmp_path: Path) -> Path:
    return made(tmp_path / "theirs", tensorflow_cpu="2.13.1", keras="2.13.1")


@pytest.fixture
def empty(tmp_path: Path) -> Path:
    return made(tmp_path / "empty")


def chosen(
    folder: Path, variables: dict[str, str] | None = None, script: str | None = None
) -> job_python.JobPython:
    return job_python.choose(None, script, variables or {}, folder)


def test_the_one_that_was_named(theirs: Path, empty: Path, tmp_path: Path) -> None:
    named = named_place(str(theirs / "bin" / "python"))
    python = job_python.choose(named, None, {"VIRTUAL_ENV": str(empty)}, tmp_path)
    assert python.because == "--python"
    assert python.distributions == {"tensorflow-cpu": "2.13.1", "keras": "2.13.1"}
    assert f"with TensorFlow 2.13.1, Keras 2.13.1 (--python: {python.path})" in str(python)
    assert not python.is_own


def test_a_folder_or_a_command_may_be_named(theirs: Path) -> None:
    assert named_place(str(theirs)).path == str(theirs / "bin" / "python")
    variables = {"PATH": str(theirs / "bin")}
    assert named_place("python3", variables=variables).path == str(theirs / "bin" / "python3")


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment(theirs: Path, tmp_path: Path, variable: str) -> None:
    made(tmp_path / ".venv", tensorflow="2.20.0")
    assert chosen(tmp_path, {variable: str(theirs)}).because == variable


def test_the_environment_of_the_project(theirs: Path, tmp_path: Path) -> None:
    made(tmp_path / "project" / ".venv", tensorflow="2.16.2")
    inner = tmp_path / "project" / "src"
    inner.mkdir()
    (inner / "train.py").write_text("")
    variables = {
        "PATH": str(theirs / "bin"),
        "CONDA_PREFIX": str(theirs),
        "CONDA_DEFAULT_ENV": "base",
    }
    for folder, script in ((inner, None), (tmp_path, str(inner / "train.py"))):
        python = chosen(folder, variables, script)
        assert python.because == ".venv of the project"
        assert python.path == str(tmp_path / "project" / ".venv" / "bin" / "python")


def test_the_first_on_path_that_has_tensorflow(theirs: Path, empty: Path, tmp_path: Path) -> None:
    dead = tmp_path / "dead"
    program(dead, "kill -9 $$")
    path = os.pathsep.join(str(p) for p in (dead, empty / "bin", theirs / "bin"))
    python = chosen(tmp_path, {"PATH": path})
    assert (python.path, python.because) == (str(theirs / "bin" / "python3"), "python3 on PATH")


def test_our_own_environment_decides_nothing_while_it_is_active(tmp_path: Path) -> None:
    looked_at = places(None, {"VIRTUAL_ENV": sys.prefix, "PATH": ""}, tmp_path)
    assert [place.decides for place in looked_at] == [False, False]


def test_without_tensorflow_says_where_there_is_one(
    theirs: Path, empty: Path, tmp_path: Path
) -> None:
    variables = {"VIRTUAL_ENV": str(empty), "PATH": str(theirs / "bin")}
    with pytest.raises(MissingExtra) as raised:
        chosen(tmp_path, variables)
    text = str(raised.value)
    assert text.startswith(f"VIRTUAL_ENV: {empty}/bin/python (Python ")
    assert f"--python {theirs}/bin/python3" in text
    assert "\n" not in text


def failure(path: str) -> str:
    """The report on a Python that cannot be used."""
    with pytest.raises(TpudiagError) as raised:
        job_python.choose(Place(path, "--python"))
    assert isinstance(raised.value, UsageError)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_one_that_is_not_there() -> None:
    assert failure("/nowhere/bin/python") == (
        "--python: /nowhere/bin/python: No such file or directory"
    )
    with pytest.raises(UsageError, match="no such command on PATH"):
        named_place("python9.9")


def test_one_that_does_not_start(tmp_path: Path) -> None:
    dying = program(tmp_path / "dying", "echo 'Fatal Python error: no encodings' >&2; exit 1")
    assert "no Python that starts: Fatal Python error: no encodings (code 1)" in failure(dying)
    assert "signal 11" in failure(program(tmp_path / "killed", "kill -11 $$"))
    assert "no Python that starts" in failure(program(tmp_path / "other", "echo hello"))


def test_one_that_is_too_old(tmp_path: Path) -> None:
    old = '{"release": "3.8.18", "prefix": "/", "distributions": {}, "tensorflow": "/tf.py"}'
    said = failure(program(tmp_path / "old", f"echo 'tpudiag: {old}'"))
    assert "is Python 3.8.18; jobs are observed from Python 3.10 on" in said


def test_what_an_environment_prints_at_its_start_does_no_harm(theirs: Path) -> None:
    customise = theirs / "lib" / VERSION / "site-packages" / "sitecustomize.py"
    customise.write_text("print('welcome')\n")
    python = job_python.choose(Place(str(theirs / "bin" / "python"), "--python"))
    assert python.release.startswith("3.")
    assert not list(theirs.rglob("*.pyc"))


def test_a_folder_that_a_removed_tensorflow_left_is_none(empty: Path) -> None:
    (empty / "lib" / VERSION / "site-packages" / "tensorflow" / "lite").mkdir(parents=True)
    with pytest.raises(MissingExtra):
        job_python.choose(Place(str(empty / "bin" / "python"), "--python"))


def test_the_tools_own_commands_are_not_on_the_jobs_path(theirs: Path) -> None:
    python = job_python.choose(Place(str(theirs / "bin" / "python"), "--python"))
    own = str(Path(sys.prefix) / "bin")
    path = os.pathsep.join((own, "/usr/bin"))
    assert job_python.variables_for(python, {"PATH": path, "A": "b"}) == {
        "PATH": "/usr/bin",
        "A": "b",
    }


def test_legacy_keras_is_read_from_the_environment(theirs: Path) -> None:
    python = job_python.choose(Place(str(theirs / "bin" / "python"), "--python"))
    asked = job_python.environment_of(python, {"TF_USE_LEGACY_KERAS": "1"})
    assert asked.legacy_keras_asked
    assert asked.distributions["keras"] == "2.13.1"
    assert not job_python.environment_of(python, {}).legacy_keras_asked
