"""The older release needed by a script that uses what was removed since."""

import re
from pathlib import Path

from tpudiag.known_errors.releases.lacking import lack_in, span_of_member
from tpudiag.known_errors.releases.tables import Release, names, release, span_of, spelled
from tpudiag.script_run import Crash

OLDEST: Release = (2, 13)
"""The first TensorFlow that can be rehearsed."""
_REFUSED = re.compile(r"TypeError: [^\n]*unexpected keyword argument '(\w+)'")
_PLACE = re.compile(r'File "([^"\n]*[/\\](?:site|dist)-packages)[/\\](\w+)')
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


def advice(error: str, tensorflow: str = "") -> str | None:
    """The release that has what an error misses, and how to rehearse with it; None for others.

    `tensorflow` is the job's: what is missing in an old enough release was not removed.
    """
    installed = release(tensorflow)[:2]
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
    last = span.last[:2]
    has = f"{span.package} {spelled(last)} is the last release that has `{lack.name}`"
    if span.package not in ("tensorflow", "keras"):
        return _advice(has, f"'{span.package}=={spelled(last)}.*'")
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


def of_package(crash: Crash) -> str | None:
    """Which installed package does not take an argument that the script itself gives it."""
    refused, places = _REFUSED.search(crash.error), _PLACE.findall(crash.traceback)
    call = crash.frames[-1].text if crash.frames else ""
    if not refused or not places or f"{refused[1]}=" not in call:
        return None
    folder, module = places[-1]
    own = f"\n{module}/__init__.py,"
    records = Path(folder).glob("*.dist-info/RECORD")
    package = next((each.parent.stem for each in records if own in f"\n{each.read_text()}"), module)
    name, _, version = package.partition("-")
    return (
        f"Not the data's fault nor TPU's: {name.replace('_', '-')} {version} here takes no "
        f"`{refused[1]}`, as the release that the script was written for does: install that one "
        "in an environment of its own, and name it by `--python`"
    )
