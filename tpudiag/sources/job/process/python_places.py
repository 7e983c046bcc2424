"""The candidates for a job's Python: the active environment, the project's folder, PATH."""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import UsageError

ON_PATH = 5
"""The most `python3` on PATH that are tried."""
OWN = "tpudiag's own"


@dataclass(frozen=True)
class Place:
    """A candidate's path, and the reason for it."""

    path: str
    because: str
    decides: bool = True
    """Whether the job must run here; otherwise only if TensorFlow is here."""


def named_place(
    named: str, because: str = "--python", variables: Mapping[str, str] = os.environ
) -> Place:
    """The named Python: a path, an environment's folder, or a command.

    Raises UsageError where there is none.
    """
    try:
        path = Path(named).expanduser()
        is_folder, is_there = path.is_dir(), path.exists()
    except (OSError, RuntimeError, ValueError) as error:  # no permission, no such user, too long
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"{because} {named[:200]}: {reason}") from error
    if is_folder:
        return Place(_in_prefix(str(path)), because)
    if os.sep in named or is_there:
        return Place(os.path.abspath(path), because)  # noqa: PTH100 (links stay: they are the venv)
    executable = shutil.which(named, path=variables.get("PATH"))
    if executable is None:
        raise UsageError(f"{because} {named}: no such file, and no such command on PATH")
    return Place(executable, because)


def places(program: str | None, variables: Mapping[str, str], folder: Path) -> Iterator[Place]:
    """The candidates for an unnamed Python, best first."""
    virtual, conda = variables.get("VIRTUAL_ENV"), variables.get("CONDA_PREFIX")
    base = variables.get("CONDA_DEFAULT_ENV") == "base"
    # `uv run` and `uvx` activate the tool's own environment, which nobody chose for the job.
    if virtual:
        yield Place(_in_prefix(virtual), "VIRTUAL_ENV", decides=not is_own(virtual))
    if conda and not base:
        yield Place(_in_prefix(conda), "CONDA_PREFIX", decides=not is_own(conda))
    environment = _project_environment(program, folder)
    if environment is not None:
        yield Place(_in_prefix(environment), ".venv of the project", not is_own(environment))
    if conda and base:  # conda activates it by default
        yield Place(_in_prefix(conda), "conda's base environment", decides=False)
    yield from (Place(path, "python3 on PATH", decides=False) for path in _on_path(variables))
    yield Place(sys.executable, OWN, decides=False)


def is_own(prefix: str) -> bool:
    """Whether an environment's folder is this program's."""
    return bool(prefix) and Path(prefix).resolve() == Path(sys.prefix).resolve()


def _project_environment(program: str | None, folder: Path) -> str | None:
    """The nearest `.venv` at or above the script's folder, or else the working folder."""
    starts = [folder.resolve()]
    if program is not None and Path(program).is_file():
        starts.insert(0, Path(program).resolve().parent)
    for start in starts:
        for directory in (start, *start.parents):
            if (directory / ".venv" / "pyvenv.cfg").is_file():
                return str(directory / ".venv")
    return None


def _on_path(variables: Mapping[str, str]) -> list[str]:
    paths: dict[str, str] = {}
    for entry in variables.get("PATH", "").split(os.pathsep):
        path = Path(entry) / "python3"
        if entry and os.access(path, os.X_OK) and not is_own(str(Path(entry).parent)):
            # By resolved folder: /bin is a link to /usr/bin on most systems.
            paths.setdefault(str(Path(entry).resolve()), str(path))
    return list(paths.values())[:ON_PATH]


def _in_prefix(prefix: str) -> str:
    return str(Path(prefix).absolute() / "bin" / "python")
