"""The narrower cases of a case: what a text says, or names, beyond what it was recognised by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from tpudiag.known_errors.literals import squeezed_pattern
from tpudiag.records import dataclass

from .meaning import Reading

Named = Mapping[str, tuple[str, ...]]
"""By the name of a fact: what a text names of that kind, in its spellings."""

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


def first(cases: Iterable[Narrower], named: Named, around: str = "") -> Reading | None:
    """The first of some narrower cases that holds for what is named, and around it said."""
    quoted = around.replace("`", "'")
    for case in cases:
        if not all(_holds(name, asked, named) for name, asked in case.when):
            continue
        # Compiled here: an answer needs the few of its own error, not those of all.
        told = re.search(squeezed_pattern(case.says), quoted, re.IGNORECASE) if case.says else None
        if case.says and told is None:
            continue
        names = {name: values[0] for name, values in named.items() if values}
        if told:
            names |= {name: value for name, value in told.groupdict().items() if value}
        return Reading(
            _filled(case.cause, names), _filled(case.fix, names), case.whole, case.likely
        )
    return None


def _holds(name: str, asked: str, named: Named) -> bool:
    """Whether what a text names is what a case asks for."""
    test = re.search if name in _WHOLE_TEXTS else re.fullmatch
    return any(test(asked, value, re.DOTALL) for value in named.get(name, ()))


def _filled(text: str, names: Mapping[str, str]) -> str:
    """A text with the names that the words hold; what they do not hold stays a blank."""
    return re.sub(r"<<(\w+)>>", lambda hole: names.get(hole[1], hole[0]), text)
