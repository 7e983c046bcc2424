"""Refines a matched error by the facts in its text: narrower cases, shapes, sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from . import narrower
from .meaning import Reading
from .named import REACH, given, named

if TYPE_CHECKING:
    from tpudiag.known_errors.model import KnownError

ANY, OPEN = "any", "open"
"""Of every case, of those that leave their cause open."""


_OF_SHAPES = re.compile(r"hape|size|samples|butgot|ndim|axis|In\[0\]|Input0")
_OF_PARTS = re.compile("divisible|partitioned")
"""Words of texts for which the modules that may read them are loaded."""
COMPUTED = {
    "dynamic-dimension": ("dimensions", "bounded"),
    "checkpoint-mismatch": ("checkpoint_shapes", "read"),
    "types-do-not-match": ("dtypes", "read"),
    "host-memory": ("hbm_usage", "on_host"),
    "no-such-release": ("offered", "read"),
    "hbm-at-compile-time": ("hbm_usage", "read"),
    "hbm-for-the-program": ("hbm_usage", "reserved"),
}
"""By a family: the function that computes something of what its errors name, and its module."""
BEFORE, BEHIND = 200, 700
"""Bytes around a match in which what it names may stand."""
TRACED = 1500
"""Bytes before a match in which the last frames that lead to it stand."""


def reading(
    bare: bytes,
    hit: re.Match[bytes],
    error: KnownError,
    values: dict[str, str],
    called: tuple[str, ...],
    shared: Mapping[str, tuple[narrower.Narrower, ...]],
) -> Reading | None:
    """What a match says itself, in a text without white space; None where that tells nothing.

    `values`: what the named groups of the match hold. `shared`: by a family, or one of the words
    above, the narrower cases that several cases share. `called`: the functions that its line says
    were called wrongly.
    """
    start = hit.start()
    first = max(0, start - BEFORE)
    around = bare[first : hit.end() + BEHIND].decode(errors="replace")
    begin, end = start - first, hit.end() - first
    own = [
        *error.narrower,
        *shared.get(error.family, ()),
        *(shared.get(OPEN, ()) if error.kind.value else ()),
    ]
    # The same sentence means one thing from `load_model` and another one from a training step.
    own.sort(key=lambda case: "traceback" not in dict(case.when))
    traceback = bare[max(0, start - REACH) : hit.end() + BEHIND].decode(errors="replace")
    facts = given(values, around, traceback) | {"called": called}
    if told := narrower.first(own, facts, around):
        return told
    before = bare[max(0, start - REACH) : start].decode(errors="replace")
    if error.whole:
        return None
    hits = [*named(around, begin, end)]
    if told := _first_of(own, hits):
        return told
    if by := COMPUTED.get(error.family):  # loaded for them alone, for speed
        computed: Reading | None = getattr(import_module(f".{by[0]}", __name__), by[1])(
            values, around
        )
        if computed:
            return computed
    # A case that tells its cause knows what its shapes are: they are not read in any words.
    any_words = bool(error.kind.value)
    return general(around, begin, end, hits, before[-TRACED:], shared.get(ANY, ()), any_words)


def general(
    around: str,
    begin: int,
    end: int,
    hits: Iterable[narrower.Named],
    before: str,
    of_any: Sequence[narrower.Narrower],
    any_words: bool = True,
) -> Reading | None:
    """What shapes, sizes and names mean in any error, be it known or not."""
    meant = None
    if _OF_SHAPES.search(around):
        from . import shapes

        meant = shapes.read(around, begin, end, before, tuple(of_any), any_words)
    if meant is None and _OF_PARTS.search(around):
        from . import dimensions

        meant = dimensions.divided(around, begin, end)
    return meant or _first_of(of_any, hits)


def of_unknown(message: str) -> Reading | None:
    """What the message of an error that is no case means by what it names."""
    around = "".join(message.split())
    of_any = narrower.shared().get(ANY, ())
    told = general(around, 0, len(around), named(around, 0, len(around)), "", of_any)
    return told or import_module(".dtypes", __name__).read({}, around)


def _first_of(cases: Sequence[narrower.Narrower], hits: Iterable[narrower.Named]) -> Reading | None:
    """The first narrower case that holds for one of the things that a text names."""
    told = (narrower.first(cases, each) for each in hits)
    return next((each for each in told if each), None)
