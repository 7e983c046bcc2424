# ruff: noqa: E501  (what is pasted stays in one piece)
"""Which package wants another release of which: what pip or an import names, with the pair that fits."""

from __future__ import annotations

import re

from .meaning import Reading

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
_INCOMPATIBLE = re.compile(
    r"(?P<by>[A-Za-z][A-Za-z_-]*(?:\d(?![\d.]*\.\d))?)(?P<release>\d[\w.]{0,16})requires"
    r"(?P<name>[A-Za-z][\w-]{0,40}(?:\[[\w,-]{1,30}\])?)(?P<wants>[<>=!~][^\s]{0,60}?),"
    r"butyouhave(?P=name)(?P<has>\d[\w.+]{0,24}?)whichisincompatible"
)
_FRAMEWORKS = re.compile(
    r"(?i:tensorflow|keras|tf[-_]keras|jax|jaxlib|flax|torch|torch[-_]xla|libtpu)"
)


def read(_: dict[str, str], text: str) -> Reading | None:
    """The pair of packages that a text names, and the releases that go together."""
    if old := _TOO_OLD.search(text):
        return _of_tensorflow(old["what"], old["wants"], old["has"])
    if pair := _INCOMPATIBLE.search(text):
        return _of_pip(pair)
    return None


def _of_tensorflow(what: str, wants: str, has: str) -> Reading:
    """A package that is newer than TensorFlow."""
    fits = _older(what, has)
    pinned = f'pip install "{fits}"      # the release for TensorFlow {has}\n' if fits else ""
    return Reading(
        f"The installed {_SPELLED.get(what, what)} is for TensorFlow {wants} and later, and TensorFlow here is {has}: one of the two was installed without a look at the other.",
        f"{pinned}pip install -U tensorflow      # or TensorFlow {wants} or later, if the code takes it",
        whole=True,
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


def _of_pip(pair: re.Match[str]) -> Reading:
    """A line of pip's about a package that wants another release of what is installed."""
    by, name, wants, has = pair["by"], pair["name"], pair["wants"], pair["has"]
    harm = (
        "it runs with that only by luck"
        if _FRAMEWORKS.match(by)
        else f"that harms only where {by} itself is imported, and the installation went through otherwise"
    )
    return Reading(
        f"{by} {pair['release']} wants {name}{wants}, and {name} {has} is installed: {harm}.",
        f'pip install "{name}{wants}"                       # what {by} wants, if what else is here (TensorFlow) takes it: pip check\n'
        f"pip install -U {by}                          # or a release of {by} that takes {name} {has}; pip uninstall -y {by}, if nothing needs it\n"
        "python -m venv fresh && fresh/bin/pip install -r requirements.txt      # pins of another year: loosened, in one go",
        whole=True,
    )
