"""The narrower cases of a case: what a text says, or names, beyond what it was recognised by."""

import re
from collections.abc import Iterable, Mapping
from functools import cache, partial
from typing import Any

from tpudiag.known_errors.compiled import cases
from tpudiag.known_errors.literals import squeezed_pattern
from tpudiag.records import dataclass

from .meaning import Reading

_CALLED = re.compile(
    r"(?<![\w.])(?:[\w<>]{1,60}\.){0,6}(?!__)(\w{1,60})\(\) (?:missing|takes|got|requires)\b"
)

Named = Mapping[str, tuple[str, ...]]
"""By the name of a fact: what a text names of that kind, in its spellings."""

FIGURES = "figures"
"""Of what the family of the narrower cases is that code decides."""
_WHOLE_TEXTS = frozenset({"traceback"})
"""Facts that are texts: what is asked of them stands somewhere in them."""


@dataclass(frozen=True)
class Narrower:
    """A narrower case: a text that tells more than the case it stands within.

    - `says`: a pattern as those of KnownError, looked for around its match. Its named groups, and
      the facts, fill `<<name>>` in cause and fix.
    - `when`: by the name of a fact, a pattern for what it is (.named says which there are).
    - `whole`: whether it says all of the cause; `likely`: that nothing in the text speaks for it
      but that it is the usual one.
    - `hit`: an error that holds it.
    """

    cause: str
    fix: str
    says: str = ""
    when: tuple[tuple[str, str], ...] = ()
    hit: str = ""
    whole: bool = True
    likely: bool = False


def of_row(row: Mapping[str, Any], *, whole: bool) -> Narrower:
    """A narrower case; `whole`: of one case alone, so that it says all of the cause."""
    given: dict[str, Any] = {"whole": whole, **row, "when": tuple(row.get("when", {}).items())}
    return Narrower(**given)


def called_in(text: str) -> tuple[str, ...]:
    """The functions that an error says were called otherwise than they are made."""
    return tuple(dict.fromkeys(_CALLED.findall(text)))


@cache
def is_about_another(hits: tuple[str, ...], told: str, called: tuple[str, ...]) -> bool:
    """Whether a case speaks of one function, as its own texts do, and an error of another one."""
    words = set(re.findall(r"\w+", told))
    if not called or words.intersection(called):
        return False
    return all(words.intersection(called_in(hit)) for hit in hits)


@cache
def shared() -> Mapping[str, tuple[Narrower, ...]]:
    """The narrower cases that several cases share, by their family, in the order of the files."""
    of: dict[str, list[Narrower]] = {}
    for row in cases()["shared"]:
        cases_of = [of_row(each, whole=False) for each in row["narrower"]]
        for family in row["of"]:
            of.setdefault(family, []).extend(cases_of)
    return {family: tuple(cases) for family, cases in of.items()}


def first(narrower: Iterable[Narrower], named: Named, around: str = "") -> Reading | None:
    """The first of some narrower cases that holds for what is named, and around it said."""
    quoted = around.replace("`", "'")
    for case in narrower:
        if not all(_holds(name, asked, named) for name, asked in case.when):
            continue
        if is_about_another((case.hit,), case.cause + case.fix, named.get("called", ())):
            continue
        # Compiled here: an answer needs the few of its own error, not those of all.
        told = re.search(squeezed_pattern(case.says), quoted, re.IGNORECASE) if case.says else None
        held = [each for each in told.groupdict().values() if each and "[" in each] if told else []
        # Where two shapes or types that are to differ are one, what differs was not read.
        if (case.says and told is None) or len(held) > len(set(held)):
            continue
        names = {name: values[0] for name, values in named.items() if values}
        if told:
            names |= {name: value for name, value in told.groupdict().items() if value}
        placed = not _WHOLE_TEXTS.isdisjoint(dict(case.when))
        put = partial(re.sub, r"<<(\w+)>>", lambda hole, to=names: to.get(hole[1], hole[0]))
        return Reading(put(case.cause), put(case.fix), case.whole, case.likely, placed)
    return None


def computed(figures: str, **values: object) -> Reading:
    """The narrower case of what was computed of an error's figures, with these values."""
    named = {name: (str(value),) for name, value in values.items()}
    reading = first(shared()[FIGURES], named | {"figures": (figures,)})
    if reading is None:
        raise KeyError(figures)
    return reading


def _holds(name: str, asked: str, named: Named) -> bool:
    """Whether what a text names is what a case asks for."""
    test = re.search if name in _WHOLE_TEXTS else re.fullmatch
    return any(test(asked, value, re.DOTALL) for value in named.get(name, ()))
