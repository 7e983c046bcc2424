"""What a script needs that was written for an older release: the one that has what is gone."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class _Last:
    """The last release that has some names."""

    says: re.Pattern[str]
    install: str
    what: str
    tensorflow: str = ""
    """The last TensorFlow that has them, where it is a TensorFlow's age."""


_KERAS_2 = "Keras 2, which came with TensorFlow up to 2.15,"
_KNOWN = (
    _Last(
        re.compile(
            r"module '[\w.]*(?:keras|estimator)[\w.]*' has no attribute '(\w+)'|"
            r"module 'tensorflow[\w.]*' has no attribute '(estimator\w*|TPUEstimator\w*)'|"
            r"cannot import name '(\w+)' from '[\w.]*(?:keras|estimator)[\w.]*'|"
            r"No module named '([\w.]*(?:keras|estimator)[\w.]*\.[\w.]+|tensorflow_addons[\w.]*)'|"
            r"Argument\(s\) not recognized: \{'(\w+)'|"
            r"A (KerasTensor) cannot be used as input to a TensorFlow function"
        ),
        "'tensorflow-cpu==2.15.*'",
        _KERAS_2,
        "2.15",
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
    for last in _KNOWN:
        found = last.says.search(error)
        if found is not None and not (last.tensorflow and _is_as_old(tensorflow, last.tensorflow)):
            name = next(each for each in found.groups() if each)
            return (
                f"Not the data's fault nor TPU's: the script is older than this environment. "
                f"{last.what} has `{name}`: `uv venv --python 3.11 older && VIRTUAL_ENV=older uv "
                f"pip install {last.install}`, then `--python older/bin/python`"
            )
    return None


def _is_as_old(installed: str, last: str) -> bool:
    """Whether a release is no newer than another."""
    numbers = [tuple(map(int, re.findall(r"\d+", each)[:2])) for each in (installed, last)]
    return bool(numbers[0]) and numbers[0] <= numbers[1]
