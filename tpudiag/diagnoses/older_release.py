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
    ),
    _Last(
        re.compile(r"(?:cannot import name|has no attribute) '(TF[A-Z]\w+)'"),
        "'transformers<5' tf-keras",
        "transformers 4",
    ),
)
"""In this order: the first that an error says."""


def advice(error: str) -> str | None:
    """Which release has what an error says is gone, and how to rehearse with it; None of others."""
    for last in _KNOWN:
        found = last.says.search(error)
        if found is not None:
            name = next(each for each in found.groups() if each)
            return (
                f"Not the data's fault nor TPU's: the script is older than this environment. "
                f"{last.what} has `{name}`: `uv venv --python 3.11 older && VIRTUAL_ENV=older uv "
                f"pip install {last.install}`, then `--python older/bin/python`"
            )
    return None
