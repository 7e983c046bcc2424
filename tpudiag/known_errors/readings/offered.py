"""The releases that pip names where it finds none that is asked for: what is nearest to it."""

import re

from tpudiag.known_errors.compiled import wording
from tpudiag.known_errors.releases.tables import release

from .meaning import Reading
from .narrower import computed


def read(_: dict[str, str], text: str) -> Reading | None:
    """Which releases next to the one that is asked for this Python can take."""
    found = wording("offered list").search(text)
    if found is None:
        return None
    package, wanted = found["package"], found["wanted"]
    there = [each for each in found["there"].split(",") if re.fullmatch(r"[\d.]+", each)]
    if not there or not wanted or wanted in there:
        return None if there else computed("no release offered", package=package)
    older = [each for each in there if release(each) < release(wanted)]
    around = (*older[-1:], *(newer := there[len(older) :])[:1])
    near = [each for each in around if release(each)[0] == release(wanted)[0]]
    if not near:
        return None
    python = "another" if older and newer else "a newer" if older else "an older"
    said = {"package": package, "wanted": wanted, "near": " and ".join(near), "python": python}
    one = min(near, key=lambda each: release(each)[:2] != release(wanted)[:2])
    return computed("other releases offered", one=one, **said)
