"""The older release needed by a script that uses what was removed since."""

import re
from dataclasses import dataclass

from tpudiag.known_errors.releases.lacking import lack_in
from tpudiag.known_errors.releases.tables import Release, names, release, span_of, spelled

OLDEST: Release = (2, 13)
"""The first TensorFlow that can be rehearsed."""


@dataclass(frozen=True)
class _Last:
    """The last release with something that no table of names covers."""

    says: re.Pattern[str]
    install: str
    what: str
    tensorflow: Release = ()
    """The last TensorFlow that has it, where that depends on TensorFlow."""


_KNOWN = (
    _Last(
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
    _Last(
        re.compile(r"(?:cannot import name|has no attribute) '(TF[A-Z]\w+)'"),
        "'transformers<5' tf-keras",
        "transformers 4",
    ),
)
"""The first whose text an error contains is used."""


def advice(error: str, tensorflow: str = "") -> str | None:
    """The release that has what an error misses, and how to rehearse with it; None for others.

    `tensorflow` is the job's: what is missing in an old enough release was not removed.
    """
    installed = release(tensorflow)[:2]
    for last in _KNOWN:
        found = last.says.search(error)
        if found is not None and (not last.tensorflow or not _as_old(installed, last.tensorflow)):
            name = next(each for each in found.groups() if each)
            return _advice(f"{last.what} has `{name}`", last.install)
    return _by_name(error, installed)


def _by_name(error: str, installed: Release) -> str | None:
    """The same for a name of TensorFlow or Keras, by the table of all added and removed names."""
    lack = lack_in(error, 0)
    span = (names().get(lack.full) if lack.within else span_of(lack.full)) if lack else None
    if lack is None or span is None or span.package not in ("tensorflow", "keras"):
        return None
    last = span.last[:2]
    if not last or _as_old(installed, last):
        return None
    has = f"{span.package} {spelled(last)} is the last release that has `{lack.name}`"
    if last < OLDEST:
        return _advice(f"{has}, and TensorFlow {spelled(OLDEST)} the first that is rehearsed")
    return _advice(has, f"'tensorflow-cpu=={spelled(last)}.*'")


def _as_old(installed: Release, last: Release) -> bool:
    """Whether a release, where known, is no newer than another."""
    return bool(installed) and installed <= last


def _advice(has: str, install: str = "") -> str:
    """The advice, with the command that creates the environment, if there can be one."""
    age = f"Not the data's fault nor TPU's: the script is older than this environment. {has}"
    if not install:
        return f"{age}: bring this line up to date"
    return (
        f"{age}: `uv venv --python 3.11 older && VIRTUAL_ENV=older uv pip install {install}`, "
        "then `--python older/bin/python`"
    )
