"""The versions of packages that a text names, and what holds for some of them."""

import re
from collections.abc import Mapping
from dataclasses import replace

from .compiled import wording
from .model import Match
from .readings.meaning import CALLED
from .readings.narrower import Named, first, shared

_BY_PATH: tuple[tuple[str, str, str], ...] = (
    ("tensorflow", r"[/\\]tensorflow_core[/\\]", "2.1"),
    ("keras", r"[/\\]keras[/\\]src[/\\]engine[/\\]", "2.15"),
    ("keras", r"[/\\]keras[/\\]src[/\\](?:trainers|backend|ops|layers[/\\]layer\.py)\b", "3"),
    ("python", r"[/\\](?:lib[/\\])?python3\.(\d{1,2})[/\\]", "3."),
)
"""What paths of a traceback tell: tensorflow_core is of 1.15 to 2.1, keras/src/trainers of 3."""
KERAS2_SINCE = (2, 16)
"""The first TensorFlow whose Keras is 3: from it on Keras 2 is a package of its own."""


def versions_in(text: str) -> dict[str, str]:
    """The first version of each package that a text names; all TensorFlow wheels are one."""
    versions: dict[str, str] = {}
    for named in wording("versions named").finditer(text):
        versions.setdefault(package_of(named["package"]), named["version"])
    return versions


def versions_by_paths(text: str) -> dict[str, str]:
    """What the paths of a traceback tell of the packages, each as one version of its kind."""
    told = [(name, at, re.search(pattern, text)) for name, pattern, at in _BY_PATH]
    return {name: at + "".join(found.groups()) for name, at, found in told if found}


def releases(named: Mapping[str, str], by_paths: Mapping[str, str]) -> str:
    """The versions of a job in words, those that only paths tell without what paths cannot say."""
    known = [f"{CALLED.get(package, package)} {version}" for package, version in named.items()]
    inferred = {"2.1": "1.15 to 2.1", "2.15": "2.13 to 2.15"}
    known += [
        f"{CALLED[package]} {inferred.get(version, version)} (by its paths)"
        for package, version in by_paths.items()
        if package not in named
    ]
    return ", ".join(known)


def names_of(versions: Mapping[str, str]) -> dict[str, str]:
    """The blanks of fixes that the versions of a job fill; empty: there is no such thing."""
    tensorflow = versions.get("tensorflow")
    if tensorflow is None:
        return {}
    minor = ".".join(tensorflow.split(".")[:2])
    apart = tuple(int(part) for part in re.findall(r"\d+", minor)) >= KERAS2_SINCE
    return {"tensorflow": tensorflow, "keras2": f"tf-keras=={minor}.*" if apart else ""}


def narrowed(match: Match, named: Named) -> Match:
    """A match with the narrower case that holds for what its whole text and its job name."""
    if match.reading is not None and match.reading.whole:
        return match
    error = match.error
    read = first((*error.narrower, *shared().get(error.family, ())), named)
    # What holds for a release alone has no other fix that is worth a try.
    return replace(match, reading=replace(read, alone=read.whole)) if read else match


def package_of(name: str) -> str:
    """A package's one name: that of all its wheels."""
    plain = re.sub(r"[-_](?:cpu|tpu|gpu)$", "", name.lower()).replace("_", "-")
    return "tensorflow" if plain == "tf" else plain
