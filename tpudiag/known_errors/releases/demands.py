"""Which two demands on one package cannot both be met, in a resolver's words."""

import re
from contextlib import suppress
from itertools import combinations
from typing import NamedTuple

from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.version import Version

from tpudiag.known_errors.compiled import wording
from tpudiag.known_errors.readings.meaning import Reading
from tpudiag.known_errors.readings.narrower import computed


class Demand(NamedTuple):
    """What a release of a package wants of another one; the user, where `who` is empty."""

    who: str
    at: str
    package: str
    spec: SpecifierSet


def read(text: str) -> Reading | None:
    """The first two demands on one package that cannot both be met; None where any two can."""
    of: dict[str, list[Demand]] = {}
    for found in wording("offered demand").finditer(text):
        who, at, package, spec = (each or "" for each in found.groups())
        with suppress(InvalidSpecifier):  # of no resolver of Python's
            wants = SpecifierSet(re.sub(r" and |, ", ",", spec).strip(" ,"))
            name = re.sub(r"[-_.]+", "-", package).lower()
            of.setdefault(name, []).append(Demand(who, at, package, wants))
    for demands in of.values():  # the user's own first
        for one, other in combinations(sorted(demands, key=lambda each: each.who), 2):
            if one.who != other.who and (told := _told(one, other)):
                return told
    return None


def _told(one: Demand, other: Demand) -> Reading | None:
    """That no release meets both of two demands; None where one does."""
    numbers = re.findall(r"\d+(?:\.\d+)*", f"0 {one.spec} {other.spec}")
    # What both take begins with a release that one of them names, or right above it.
    near = [Version(number + above) for number in numbers for above in ("", ".0.0.1")]
    taken, others = (set(each.spec.filter(near, prereleases=True)) for each in (one, other))
    if taken & others or not (taken and others):
        return None
    older, newer = (one, other) if max(taken) < max(others) else (other, one)
    said = {"one": one.who, "at": one.at, "wants": f"{one.package}{one.spec}"}
    said |= {"other": other.who, "other_at": other.at, "package": one.package}
    said |= {"other_wants": f"{other.package}{other.spec}", "older": older.who}
    said |= {"newer": newer.who, "newer_at": newer.at}
    return computed("two packages apart" if one.who else "a pin and a package", **said)
