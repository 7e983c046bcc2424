"""Known errors that were found in a text, and one that is not known, as text and as data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from tpudiag.sanitized import harmless

from .model import (
    MOST_COUNTED,
    Confidence,
    Known,
    KnownError,
    Match,
    Phase,
    RivalFound,
    with_values,
)

if TYPE_CHECKING:
    from .unknown import UnknownError

WIDTH = 98
EVIDENCE: dict[Known, str] = {
    "reproduced": "reproduced",
    "reported": "reported",
    "recalled": "from experience",
}
SURE: dict[Confidence, str] = {"high": "", "medium": " (likely)", "low": " (not sure)"}
"""How sure the cause is, for people."""

DECIDES = (
    "This line alone does not tell the cause. The lines above it do, from the first error on: give"
    " them all (tpudiag explain --log FILE), of a pod those of every worker."
)

Bold = Callable[[str], str]


def all_rows(found: Sequence[Match | UnknownError], bold: Bold = str) -> Iterator[str]:
    """All that was found in a text, best first, for people; an empty line between two.

    What says less of words that another answer explains is named by its id only.
    """
    matches = [each for each in found if isinstance(each, Match)]
    first = [_bare(each) for each in matches if not each.secondary]
    behind = [(each.error.id, _bare(each)) for each in matches if each.secondary]
    general = [id_ for id_, own in behind if any(own in other or other in own for other in first)]
    for number, each in enumerate(found):
        if isinstance(each, Match) and each.error.id in general:
            continue
        yield from ("",) if number else ()
        yield from match_rows(each, bold) if isinstance(each, Match) else unknown_rows(each, bold)
    if general:
        yield f"\nThe same words, told in general: {', '.join(general)} (tpudiag explain ID)"


def _bare(match: Match) -> str:
    """The words of an error as they are compared: without blanks and the mark of a cut."""
    return "".join(match.excerpt.split()).removesuffix("\u2026")


def data(answer: Match | UnknownError) -> dict[str, object]:
    """The same for programs."""
    return match_data(answer) if isinstance(answer, Match) else unknown_data(answer)


def match_rows(match: Match, bold: Bold) -> Iterator[str]:
    """An error that was found: where, cause, fix, where it is known from."""
    error, place = match.error, match.place
    places = f"line {match.line}"
    if match.count > 1:
        more = " or more" if match.count >= MOST_COUNTED else ""
        places = f"{match.count:,} times{more}, lines {match.line:,} to {match.last_line:,}"
    name = bold(f"{error.id} ({error.level})")
    excerpt = clean(match.excerpt)
    if match.secondary:
        yield f"{name} {places}, follows from another error here"
        yield f"  > {textwrap.shorten(excerpt, WIDTH - 4, placeholder=' …')}"
        yield _paragraph(error.cause)
        yield f"  its causes and fix: tpudiag explain {error.id}"
        return
    open_ = ": it fits several causes; which of them is not known" if match.undecided else ""
    yield f"{name} {places}{open_}"
    yield f"  > {excerpt}"
    if place is not None:
        line, source = place.own_line, place.source
        named = {"your line": f"{line}: {source}" if line and source else line}
        named |= {"supposed": place.condition, "layer": place.layer, "operation": place.operation}
        named |= {"releases": match.releases}
        if facts := [(what, each) for what, each in named.items() if each]:
            yield from ("", bold("Where"), *_named(facts))
    yield from _answer(match, clean(match.message), bold)
    if match.undecided:
        yield from ("", bold("What would decide"), _paragraph(DECIDES))


def _named(facts: Iterable[tuple[str, str]]) -> Iterator[str]:
    yield from (f"  {what:<9}  {clean(value)}" for what, value in facts)


def error_rows(error: KnownError, bold: Bold) -> Iterator[str]:
    """A known error in full."""
    yield bold(f"{error.id} ({error.level})")
    yield from (f"  > {row}" for row in error.example.splitlines())
    rivals = tuple(RivalFound(rival=rival) for rival in error.rivals)
    plain = Match(error=error, excerpt="", line=0, last_line=0, rivals=rivals)
    yield from _answer(plain, error.cause, bold)


def unknown_rows(error: UnknownError, bold: Bold) -> Iterator[str]:
    """An error that is not known: whole, when it came, what its kind means, what to do next."""
    phase = "" if error.phase is Phase.ANY else error.phase.value
    about = ", ".join(part for part in (phase, error.status) if part)
    name = "told by its own words (error)" if error.told else "not known (error)"
    yield f"{bold(name)} {about}".rstrip()
    yield _paragraph(clean(error.text), "  > ")
    if error.cause:
        yield from ("", bold("Cause"), _paragraph(clean(error.cause)))
    if error.fix:
        yield from ("", bold("Fix"), *(f"    {clean(row)}" for row in error.fix.splitlines()))
    if error.meaning and not error.told:
        yield from ("", bold("What its kind means"), _paragraph(error.meaning))
    if facts := tuple(error.facts.rows()):
        yield from ("", bold("What was read"), *_named(facts))
    if error.told:
        return
    yield from ("", bold("Next"), *(f"    {row}" for row in error.next_steps.splitlines()))
    if error.nearest:
        yield f"\n{bold('Nearest known errors')} (by their words; each may be it or not)"
    for near in error.nearest:
        yield f"  {near.id} {near.family}: {textwrap.shorten(near.cause, WIDTH - 24)}"


def match_data(match: Match) -> dict[str, object]:
    """An error that was found, for programs; `where`: null where the text says nothing of it."""
    place = match.place
    where = place and {
        **{"own_line": place.own_line, "source": place.source, "operation": place.operation},
        **{"layer": place.layer, "condition": place.condition, "releases": match.releases or None},
    }
    return error_data(match.error) | {
        **{"cause": match.message, "fix": match.fix, "confidence": match.confidence},
        "causes": [_rival_data(each, match) for each in match.rivals],
        **{"excerpt": match.excerpt, "line": match.line, "last_line": match.last_line},
        **{"count": match.count, "values": match.values, "secondary": match.secondary},
        "where": where,
    }


def error_data(error: KnownError) -> dict[str, object]:
    """A known error for programs."""
    return {
        **{"id": error.id, "level": error.level, "family": error.family},
        **{"phase": error.phase.value, "cause": error.cause, "fix": with_values(error.fix, {})},
        "useless": error.useless or None,
        "causes": [_rival_data(RivalFound(rival=each)) for each in error.rivals],
        **{"citations": error.citations, "evidence": error.evidence},
        "rehearsal_only": error.rehearsal_only,
    }


def unknown_data(error: UnknownError) -> dict[str, object]:
    """An error that is not known, for programs."""
    return {
        **{"id": "unknown", "level": "error", "family": None, "phase": error.phase.value},
        **{"status": error.status, "excerpt": error.text, "cause": error.cause},
        **{"fix": error.fix or None, "meaning": error.meaning or None},
        **{"operation": error.operation, "own_line": error.facts.place.own_line},
        **{"facts": dict(error.facts.rows()), "next_steps": error.next_steps.splitlines()},
        **{"nearest": [near.id for near in error.nearest], "secondary": False},
    }


def clean(text: str) -> str:
    """Text of others made harmless, on one line: logs hold what moves a cursor."""
    return re.sub(r"[\n\t]", lambda m: ascii(m[0])[1:-1], harmless(text))


def _answer(match: Match, cause: str, bold: Bold) -> Iterator[str]:
    """What is behind it, what mends it, what does not, and how that is known."""
    error = match.error
    # A case in full, as `explain ID` shows it, is no answer to a text.
    how_sure = SURE[match.confidence] if match.line else ""
    yield from ("", f"{bold('Cause')}{how_sure}", _paragraph(cause))
    if match.rivals and not (match.settled or (match.reading and match.reading.whole)):
        yield from ("", bold("One of"))
        yield from (row for each in match.rivals for row in _rival(each, match))
    yield from ("", bold("Fix"), *(f"    {row}".rstrip() for row in match.fix.splitlines()))
    if error.useless:
        yield from ("", bold("No help"), _paragraph(error.useless))
    known = ", ".join((EVIDENCE[error.evidence], *error.citations))
    yield from ("", bold("Known from"), _paragraph(known))


def _rival(of_match: RivalFound, match: Match) -> Iterator[str]:
    """A rival cause: what to look for, what decides, what supports it here, what mends it."""
    rival = of_match.rival
    yield _paragraph(rival.cause, "  - ")
    support = f"supported by line {of_match.line}: {clean(of_match.support or '')}"
    yield _paragraph(
        f"look for {rival.look_for}" if of_match.support is None else support, "      "
    )
    if rival.decide:
        yield f"      decide  {match.with_names(rival.decide)}"
    # The fix of the one that the text supports stands as the answer's own.
    if rival.fix and match.supported != of_match:
        first, *rest = match.with_names(rival.fix).splitlines()
        yield f"      fix     {first}"
        yield from (f"              {row}" for row in rest)


def _rival_data(of_match: RivalFound, match: Match | None = None) -> dict[str, object]:
    """A rival cause for programs; `support` is the text that speaks for it, null where none."""
    rival, both = of_match.rival, (of_match.rival.decide, of_match.rival.fix)
    decide, fix = (match.with_names(text) if match else with_values(text, {}) for text in both)
    return {
        **{"cause": rival.cause, "look_for": rival.look_for, "decide": decide or None},
        **{"fix": fix or None, "support": of_match.support, "line": of_match.line},
        "families": rival.families,
    }


def _paragraph(text: str, indent: str = "  ") -> str:
    """Lines that fit, indented; names stay whole."""
    wrapper = textwrap.TextWrapper(WIDTH, indent, " " * len(indent))
    wrapper.break_long_words = wrapper.break_on_hyphens = False
    return wrapper.fill(text)
