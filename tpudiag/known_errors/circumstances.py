"""What a text says of its job beside the error: places, versions, names; put into the answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING

from .blanks import names_in
from .compiled import wording
from .facts import facts_near, unwrapped
from .model import Kind, Match
from .place import place_near
from .versions import names_of, narrowed, package_of, releases, versions_by_paths, versions_in

if TYPE_CHECKING:
    from .message_grammar import OwnWords

OPEN_FAMILIES = ("keras-argument", "not-implemented")
"""Families of errors of which the sentence says more than what its names mean elsewhere."""
LINES_OF_A_SENTENCE = 6
"""An error's sentence goes on for so many lines at most."""
HANDED_ON = "Exception encountered:"
"""Before an error that Keras met and tells within its own."""
CHAINED = "was the direct cause of the following exception"
"""Between an exception and the one that was raised from it."""


def of_job(
    matches: Sequence[Match],
    text: str,
    installed: Mapping[str, str] | None = None,
    *,
    whole: bool = True,
) -> tuple[Match, ...]:
    """Matches in a text with what it says of its job.

    `installed`: the version of each package, where the environment is known. A text that is not
    `whole` holds the two ends of a log: the lines of the matches are not those of the text.
    """
    if not matches:
        return ()
    here = {package_of(name): version for name, version in (installed or {}).items()}
    named = versions_in(text) | here
    by_paths = versions_by_paths(text)
    said = releases(versions_in(text), by_paths)
    names = names_in(text, here) | names_of(named)
    versions = {name: (version,) for name, version in (by_paths | named).items()}
    told: list[Match] = []
    for each in matches:
        around, line = each.within(text, whole)
        failed = bool(around) and each.error.level == "error"
        facts = facts_near(around, line) if failed and not each.secondary else None
        place = facts.place if facts else place_near(around, line) if failed else None
        script = {"SCRIPT": place.script} if place and place.script else {}
        now = narrowed(each, versions)
        # Where something narrower was read, its own words say less; what reads them is dear.
        asked = facts and (now.reading is None or wording("job call").search(_rows(around, line)))
        sentence = _said(around, line) if asked and each.told_by == "words" else None
        own = _own(each, around, line) if facts and now is each else None
        read = None if own is not None else now.reading
        found = replace(now, reading=read, place=place, releases=said, facts=facts, own=own)
        told.append(replace(found, advised=_advice(now, sentence), names=names | script))
    return tuple(told)


def _advice(match: Match, said: OwnWords | None) -> tuple[str, ...]:
    """What an error's own words advise: a case that is sure knows better, but what they miss."""
    if said is None or match.error.useless:
        return ()
    if match.reading is None and (match.error.is_family or match.is_open):
        return said.advised
    # A call that it quotes is what its library knows to mend it.
    found = ((row, wording("job call").search(row)) for row in said.advised)
    calls = [row for row, call in found if call and (call[1] or call[2]) not in match.fix]
    return (*said.advised[: bool(said.lacks and match.reading is None)], *calls)


def _own(match: Match, text: str, line: int) -> OwnWords | None:
    """What the sentence of an error says itself, where nothing else was read in it."""
    kind = match.error.kind
    if kind is not Kind.TELLING and (again := _said_again(match, text, line)):
        return again
    # What an argument of that name mostly is says less than what this one was to be.
    is_open = match.error.family in OPEN_FAMILIES and kind is not Kind.TELLING
    if match.told_by != "words" or (match.reading is not None and not is_open):
        return None
    said = _said(text, line)
    # What mostly follows from another error may say itself what is to be done.
    says = said is not None and bool(said.advised or said.is_contract or said.wanted)
    if kind is Kind.CONSEQUENCE and not is_open and not says:
        return None
    # A case that names its cause is told apart by what was wanted and what came alone.
    free = match.is_open and match.reading is None
    handed_on = HANDED_ON in text and kind is Kind.TELLING
    tells = said is not None and (free or handed_on or said.is_contract)
    return said if tells else None


def _said(text: str, line: int) -> OwnWords | None:
    """What the sentence on a line says, or the error that it hands on."""
    from .message_grammar import own_words

    return own_words(unwrapped(_rows(text, line)))


def _rows(text: str, line: int) -> str:
    """The line of an error and those that go on with its sentence."""
    first, *rest = text.split("\n")[line - 1 : line + LINES_OF_A_SENTENCE]
    return "\n".join(
        (first, *takewhile(lambda row: not wording("job next_record").match(row), rest))
    )


def _said_again(match: Match, text: str, line: int) -> OwnWords | None:
    """What the exception that was raised from a match says of the same name."""
    before, chained, behind = text.rpartition(CHAINED)
    if not chained or before.count("\n") < line + match.last_line - match.line:
        return None
    names = "|".join(re.escape(each) for each in match.values.values() if len(each) > 1)
    form = rf"^[\w.]{{1,80}}(?:Error|Exception): [^\n]*(['\"`])(?:{names})\1[^\n]*"
    again = re.search(form, behind, re.MULTILINE) if names else None
    return _said(again[0], 1) if again else None
