"""The older release needed by a script that uses what was removed since."""

import re
from collections.abc import Mapping
from pathlib import Path

from tpudiag.known_errors.releases.lacking import lack_in, span_of_member
from tpudiag.known_errors.releases.tables import Release, names, release, span_of, spelled
from tpudiag.script_run import Crash

OLDEST: Release = (2, 13)
OLDEST_OF: dict[str, Release] = {"tensorflow": OLDEST, "jax": (0, 4, 30)}
"""The first releases that are rehearsed."""
_REFUSED = re.compile(r"TypeError: [^\n]*unexpected keyword argument '(\w+)'")
_BY_POSITION = re.compile(r"TypeError: too many positional arguments$", re.MULTILINE)
"""The words of `inspect`, by which a decorator binds what a function is called with."""
UNPACKED = re.compile(r"[(,]\s*\*")
_PLACE = re.compile(r'File "([^"\n]*[/\\](?:site|dist)-packages)[/\\](\w+)')
_OF_TABLES = ("tensorflow", "keras", "jax", "numpy")
"""Packages whose names that came or went are in the tables: what is not there never was."""
_PINNED_IN = ("requirements*.txt", "setup.py", "setup.cfg", "pyproject.toml", "environment.y*ml")
_OF_A_JOB = "tensorflow keras"
"""Whose the classes of a job's objects are."""
_KNOWN: tuple[tuple[re.Pattern[str], str, str, Release], ...] = (
    (
        re.compile(
            r"has no attribute '(estimator\w*|TPUEstimator\w*)'|"
            r"cannot import name '(\w+)' from '[\w.]*estimator[\w.]*'|"
            r"No module named '([\w.]*estimator[\w.]*\.[\w.]+|tensorflow_addons[\w.]*)'|"
            r"Argument\(s\) not recognized: \{'(\w+)'|"
            r"A (KerasTensor) cannot be used as input to a TensorFlow function"
        ),
        "'tensorflow-cpu==2.15.*'",
        "Keras 2, which came with TensorFlow up to 2.15,",
        (2, 15),
    ),
    (
        re.compile(r"(?:cannot import name|has no attribute) '(TF[A-Z]\w+)'"),
        "'transformers<5' tf-keras",
        "transformers 4",
        (),
    ),
)
"""What no table of names covers: its error, what to install, the last release with it, and the last
TensorFlow with it where that decides. The first whose text an error contains is used."""


def advice(error: str, tensorflow: str = "", *, of_jax: bool = False) -> str | None:
    """The release that has what an error misses, and how to rehearse with it; None for others.

    `tensorflow` is the job's: what is missing in an old enough release was not removed. No older
    TensorFlow helps a job of JAX.
    """
    installed = (0, 0) if of_jax else release(tensorflow)[:2]
    for says, install, what, last in _KNOWN:
        found = says.search(error)
        if found is not None and not (last and _as_old(installed, last)):
            name = next(each for each in found.groups() if each)
            return _advice(f"{what} has `{name}`", install)
    return _by_name(error, installed)


def _by_name(error: str, installed: Release) -> str | None:
    """The same for a name of a package, by the table of all added and removed names."""
    lack = lack_in(error, 0)
    if lack is None:
        return None
    span = names().get(lack.full) if lack.within else span_of(lack.full)
    span = span_of_member(lack, _OF_A_JOB) if lack.owner else span
    if span is None or not span.last:
        return None
    # Of others a name comes and goes with the last part of a release: JAX 0.4.23.
    own = span.package in ("tensorflow", "keras")
    last = span.last[:2] if own else span.last
    has = f"{span.package} {spelled(last)} is the last release that has `{lack.name}`"
    if not own:
        return _advice(has, f"'{span.package}=={spelled(last)}{'.*' * (len(last) < 3)}'")
    if _as_old(installed, last):
        return None
    if last < OLDEST:
        return _advice(f"{has}, and TensorFlow {spelled(OLDEST)} the first that is rehearsed")
    return _advice(has, f"'tensorflow-cpu=={spelled(last)}.*'")


def _as_old(installed: Release, last: Release) -> bool:
    return bool(installed) and installed <= last


def _advice(has: str, install: str = "") -> str:
    age = f"Not the data's fault nor TPU's: the script is older than this environment. {has}"
    if not install:
        return f"{age}: bring this line up to date"
    return (
        f"{age}: `uv venv --python 3.11 older && VIRTUAL_ENV=older uv pip install {install}`, "
        "then `--python older/bin/python`"
    )


def too_old(installed: Mapping[str, str]) -> str | None:
    """Which package is older than what is rehearsed, by the versions of those installed."""
    for name, oldest in OLDEST_OF.items():
        there = next((v for n, v in installed.items() if n in (name, f"{name}-cpu")), None)
        if there is not None and release(there) < oldest:
            return f"{name} {there} is older than what is rehearsed, from {spelled(oldest)} on"
    return None


def of_package(crash: Crash, python: str = "") -> str | None:
    """Which installed package has not what the script itself asks of it; `python` is the job's."""
    call = crash.frames[-1] if crash.frames else None
    asked = _asked(crash, call.text) if call is not None else None
    if call is None or asked is None:
        return None
    what, module, folder = asked
    homes = Path(python).parent.parent.glob("lib/*/*-packages")
    folders = [Path(folder)] if folder else [*homes]
    package = next((found for each in folders if (found := _installed(module, each))), "")
    if not package and not folder:
        return None  # a module of the user's own
    own = re.fullmatch(rf"has no `{re.escape(module)}\.(\w+)`", what)
    texts = (file for each in folders for file in (each / module).glob("*.py"))
    if own and any(_names(own[1], file) for file in texts):
        return None  # it would have it, had its import not failed
    name, _, version = (package or module).partition("-")
    name = name.replace("_", "-")
    has = f"{name} {version} here {what}"
    if pinned := _pinned(name, Path(call.location.file)):
        return _advice(f"{has}, and the repository asks for {pinned}", f"'{name}=={pinned}'")
    return (
        f"Not the data's fault nor TPU's: {has}: the script is of another release, and of which "
        "one is not known here. Install that of the script's date (`git log -1 --format=%cs "
        f"{call.location.file}`) in an environment of its own, and name it by `--python`"
    )


def _asked(crash: Crash, call: str) -> tuple[str, str, str] | None:
    """What the package has not, its module, and the folder of packages that it is seen in."""
    refused, places = _REFUSED.search(crash.error), _PLACE.findall(crash.traceback)
    if refused and places and f"{refused[1]}=" in call:
        return f"takes no `{refused[1]}`", places[-1][1], places[-1][0]
    behind = _PLACE.findall(crash.traceback.rpartition(call)[2]) if call else places
    if _BY_POSITION.match(crash.error) and len(behind) == 1 and not UNPACKED.search(call):
        return "takes fewer arguments by position", behind[0][1], behind[0][0]
    lack = lack_in(crash.error, 0)
    if behind or lack is None or lack.owner or lack.takes or lack.asked in _OF_TABLES:
        return None
    return f"has no `{lack.full}`", lack.asked, ""


def _names(name: str, file: Path) -> bool:
    """Whether a package's own text names what it has not."""
    return file.is_file() and re.search(rf"\b{name}\b", file.read_text()) is not None


def _installed(module: str, folder: Path) -> str:
    """The package that brings a module, as `name-version`; empty where the folder has none."""
    own = f"\n{module}/__init__.py,"
    records = folder.glob("*.dist-info/RECORD")
    return next((each.parent.stem for each in records if own in f"\n{each.read_text()}"), "")


def _pinned(package: str, script: Path) -> str:
    """The release of a package that the script, or a file beside or above it, asks for."""
    name = package.replace("-", "[-_]")
    asks = re.compile(rf"(?<![\w-]){name}(?:\[[\w,]+\])? *==? *(\d[\w.]*)", re.IGNORECASE)
    folders = script.absolute().parents[:3]
    files = (file for each in folders for kind in _PINNED_IN for file in sorted(each.glob(kind)))
    texts = (file.read_text(errors="replace") for file in (script, *files) if file.is_file())
    return next((found[1] for text in texts if (found := asks.search(text))), "")
