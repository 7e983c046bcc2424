"""The versions of packages that a text names, and fixes that hold for some of them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from .model import Match

_NAMED = re.compile(
    r"\b(?P<package>tensorflow(?:[-_](?:cpu|tpu|gpu))?|tf|tf[-_]keras|keras|libtpu|jax|numpy|protobuf)"
    r"(?:\s+(?:version|v))?\s*(?::|==|=|-|\s)\s*v?(?P<version>\d{1,2}\.\d{1,2}(?:\.\d{1,3})?)\b",
    re.IGNORECASE,
)
_SAME = {"tf": "tensorflow"}


def versions_in(text: str) -> dict[str, str]:
    """The first version of each package that a text names; all TensorFlow wheels are one."""
    versions: dict[str, str] = {}
    for named in _NAMED.finditer(text):
        versions.setdefault(_package(named["package"]), named["version"])
    return versions


def for_versions(match: Match, versions: Mapping[str, str]) -> Match:
    """A match whose fix is that for these versions, where its error has one."""
    known = {_package(name): version for name, version in versions.items()}
    for fix in match.error.fixes:
        version = known.get(fix.package)
        if version and _number(fix.since) <= _number(version) < _number(fix.before):
            return replace(match, fix_for=fix, fix_version=version)
    return match


def _package(name: str) -> str:
    """The package's one name."""
    plain = re.sub(r"[-_](?:cpu|tpu|gpu)$", "", name.lower()).replace("_", "-")
    return _SAME.get(plain, plain)


def _number(version: str) -> tuple[int, ...]:
    """A version to compare by."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])
