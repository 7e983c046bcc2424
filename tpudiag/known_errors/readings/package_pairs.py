# ruff: noqa: E501  (what is pasted stays in one piece)
"""Which package wants another release of which: what pip or an import names, with the pair that fits."""

from __future__ import annotations

import re

from .meaning import Reading
from .narrower import computed

_PROBABILITY = {
    "1.14": "0.7",
    "1.15": "0.8",
    **{f"2.{minor}": f"0.{minor + 8}" for minor in range(17)},
    "2.18": "0.25",
}
"""TensorFlow Probability's release by TensorFlow's (its own notes of each release)."""
_TOO_OLD = re.compile(
    r"Thisversionof(?P<what>TensorFlowProbability|TensorFlowDatasets|[Tt]ensor[Ff]low[_-]?[Hh]ub|Sonnet|TFAgents|[\w-]{3,40})requires(?i:TensorFlow)version>=(?P<wants>[\d.]{1,8});"
    r"Detectedaninstallationofversion(?P<has>\d{1,2}\.\d{1,2})"
)
_SPELLED = {
    "TensorFlowProbability": "TensorFlow Probability",
    "TensorFlowDatasets": "TensorFlow Datasets",
}


def read(_: dict[str, str], text: str) -> Reading | None:
    """The pair of packages that a text names, and the releases that go together."""
    old = _TOO_OLD.search(text)
    return _of_tensorflow(old["what"], old["wants"], old["has"]) if old else None


def _of_tensorflow(what: str, wants: str, has: str) -> Reading:
    """A package that is newer than TensorFlow."""
    fits = _older(what, has)
    pinned = f'pip install "{fits}"      # the release for TensorFlow {has}\n' if fits else ""
    return computed(
        "newer than TensorFlow", what=_SPELLED.get(what, what), wants=wants, has=has, pinned=pinned
    )


def _older(what: str, has: str) -> str | None:
    """The requirement of the package that goes with a TensorFlow, where it is known."""
    first = has.startswith("1.")
    if what == "TensorFlowProbability":
        return f"tensorflow-probability=={_PROBABILITY[has]}.*" if has in _PROBABILITY else None
    if what == "TensorFlowDatasets":
        return {"1.14": "tensorflow-datasets==1.3.*", "1.15": "tensorflow-datasets<4"}.get(has)
    if "hub" in what.lower():
        return "tensorflow-hub==0.12.*" if first else None
    return None
