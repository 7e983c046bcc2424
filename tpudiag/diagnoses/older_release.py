"""What a script needs that was written for an older release: the one that has what is gone."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tpudiag.known_errors.releases.lacking import lack_in
from tpudiag.known_errors.releases.tables import Release, names, release, span_of, spelled

OLDEST: Release = (2, 13)
"""The first TensorFlow that is rehearsed."""


@dataclass(frozen=True)
class _Last:
    """The last release that has what no table of names tells of."""

    says: re.Pattern[str]
    install: str
    what: str
    tensorflow: Release = ()
    """The last TensorFlow that has it, where it is a TensorFlow's age."""


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
"""In this order: the first that an error says."""


def advice(error: str, tensorflow: str = "") -> str | None:
    """Which release has what an error says is gone, and how to rehearse with it; None of others.

    `tensorflow` is the job's: what is not in a release that is old enough is not gone by age.
    """
    installed = release(tensorflow)[:2]
    for last in _KNOWN:
        found = last.says.search(error)
        if found is not None and (not last.tensorflow or not _as_old(installed, last.tensorflow)):
            name = next(each for each in found.groups() if each)
            return _said(f"{last.what} has `{name}`", last.install)
    return _by_name(error, installed)


def _by_name(error: str, installed: Release) -> str | None:
    """The same of a name of TensorFlow or Keras, by the table of all that came and went."""
    lack = lack_in(error, 0)
    span = (names().get(lack.full) if lack.within else span_of(lack.full)) if lack else None
    if lack is None or span is None or span.package not in ("tensorflow", "keras"):
        return None
    last = span.last[:2]
    if not last or _as_old(installed, last):
        return None
    has = f"{span.package} {spelled(last)} is the last release that has `{lack.name}`"
    if last < OLDEST:
        return _said(f"{has}, and TensorFlow {spelled(OLDEST)} the first that is rehearsed")
    return _said(has, f"'tensorflow-cpu=={spelled(last)}.*'")


def _as_old(installed: Release, last: Release) -> bool:
    """Whether a release, where it is known, is no newer than another."""
    return bool(installed) and installed <= last


def _said(has: str, install: str = "") -> str:
    """It in words, with what makes the environment, if one can be made."""
    age = f"Not the data's fault nor TPU's: the script is older than this environment. {has}"
    if not install:
        return f"{age}: bring this line up to date"
    return (
        f"{age}: `uv venv --python 3.11 older && VIRTUAL_ENV=older uv pip install {install}`, "
        "then `--python older/bin/python`"
    )
