"""Known errors that were found in a text, and one that is not known, as text and as data."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from tpudiag.known_errors.model import (
    MOST_COUNTED,
    Confidence,
    Known,
    KnownError,
    Match,
    Phase,
    RivalFound,
    with_values,
)
from tpudiag.sanitized import harmless

if TYPE_CHECKING:
    from tpudiag.known_errors.unknown import UnknownError

WIDTH = 98
EVIDENCE: dict[Known, str] = {
    "reproduced": "reproduced",
    "reported": "reported",
    "recalled": "from experience",
}
SURE: dict[Confidence, str] = {
    "high": "",
    "medium": " (likely)",
    "low": " (not sure)",
}
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
    first = [_bare(each.excerpt) for each in matches if not each.secondary]
    general = [each.error.id for each in matches if each.secondary and _says_less(each, first)]
    for number, each in enumerate(found):
        if isinstance(each, Match) and each.error.id in general:
            continue
        yield from ("", *rows(each, bold)) if number else rows(each, bold)
    if general:
        yield f"\nThe same words, told in general: {', '.join(general)} (tpudiag explain ID)"


def _says_less(match: Match, first: Sequence[str]) -> bool:
    """Whether the words of an error are a part of those that another answer explains."""
    own = _bare(match.excerpt)
    return any(own in other or other in own for other in first)


def _bare(excerpt: str) -> str:
    """An excerpt as it is compared: without its blanks, and without the mark where it was cut."""
    return "".join(excerpt.split()).removesuffix("\u2026")


def rows(answer: Match | UnknownError, bold: Bold = str) -> Iterator[str]:
    """What was found in a text, for people."""
    return match_rows(answer, bold) if isinstance(answer, Match) else unknown_rows(answer, bold)


def data(answer: Match | UnknownError) -> dict[str, object]:
    """The same for programs."""
    return match_data(answer) if isinstance(answer, Match) else unknown_data(answer)


def match_rows(match: Match, bold: Bold) -> Iterator[str]:
    """An error that was found: where, cause, fix, where it is known from."""
    places = f"line {match.line}"
    if match.count > 1:
        more = " or more" if match.count >= MOST_COUNTED else ""
        places = f"{match.count:,} times{more}, lines {match.line:,} to {match.last_line:,}"
    name = f"{match.error.id} ({match.error.level})"
    if match.secondary:
        yield bold(name) + f" {places}, follows from another error here"
        yield from _also(match)
        return
    open_ = ": it fits several causes; which of them is not known" if match.undecided else ""
    yield bold(name) + f" {places}{open_}"
    yield f"  > {clean(match.excerpt)}"
    yield from _where(match, bold)
    yield from _answer(match, clean(match.message), bold)
    if match.undecided:
        yield f"\n{bold('What would decide')}"
        yield _paragraph(DECIDES)


def _also(match: Match) -> Iterator[str]:
    """What is said of an error that stands behind another: its cause, and where to read more."""
    yield f"  > {textwrap.shorten(clean(match.excerpt), WIDTH - 4, placeholder=' …')}"
    yield _paragraph(match.error.cause)
    yield f"  its causes and fix: tpudiag explain {match.error.id}"


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
        yield f"\n{bold('Cause')}\n{_paragraph(clean(error.cause))}"
    if error.fix:
        yield f"\n{bold('Fix')}"
        yield from (f"    {clean(row)}" for row in error.fix.splitlines())
    if error.meaning and not error.told:
        yield f"\n{bold('What its kind means')}\n{_paragraph(error.meaning)}"
    if facts := tuple(error.facts.rows()):
        yield f"\n{bold('What was read')}"
        yield from (f"  {what:<9}  {clean(value)}" for what, value in facts)
    if error.told:
        return
    yield f"\n{bold('Next')}"
    yield from (f"    {row}" for row in error.next_steps.splitlines())
    if not error.nearest:
        return
    yield f"\n{bold('Nearest known errors')} (by their words; each may be it or not)"
    yield from (
        f"  {near.id} {near.family}: {textwrap.shorten(near.cause, WIDTH - 24)}"
        for near in error.nearest
    )


def match_data(match: Match) -> dict[str, object]:
    """An error that was found, for programs."""
    return error_data(match.error) | {
        "cause": match.message,
        "fix": match.fix,
        "confidence": match.confidence,
        "causes": [_rival_data(each, match) for each in match.rivals],
        "excerpt": match.excerpt,
        "line": match.line,
        "last_line": match.last_line,
        "count": match.count,
        "values": match.values,
        "secondary": match.secondary,
        "where": _where_data(match),
    }


def _where_data(match: Match) -> dict[str, str | None] | None:
    """Where it happened, for programs; null where the text says nothing of it."""
    place = match.place
    if place is None:
        return None
    return {
        "own_line": place.own_line,
        "source": place.source,
        "operation": place.operation,
        "layer": place.layer,
        "condition": place.condition,
        "releases": match.releases or None,
    }


def error_data(error: KnownError) -> dict[str, object]:
    """A known error for programs."""
    return {
        "id": error.id,
        "level": error.level,
        "family": error.family,
        "phase": error.phase.value,
        "cause": error.cause,
        "fix": with_values(error.fix, {}),
        "useless": error.useless or None,
        "causes": [_rival_data(RivalFound(rival=each)) for each in error.rivals],
        "citations": error.citations,
        "evidence": error.evidence,
        "rehearsal_only": error.rehearsal_only,
    }


def unknown_data(error: UnknownError) -> dict[str, object]:
    """An error that is not known, for programs."""
    return {
        "id": "unknown",
        "level": "error",
        "family": None,
        "phase": error.phase.value,
        "status": error.status,
        "excerpt": error.text,
        "cause": error.cause,
        "fix": error.fix or None,
        "meaning": error.meaning or None,
        "operation": error.operation,
        "own_line": error.facts.place.own_line,
        "facts": dict(error.facts.rows()),
        "next_steps": error.next_steps.splitlines(),
        "nearest": [near.id for near in error.nearest],
        "secondary": False,
    }


def clean(text: str) -> str:
    """Text of others made harmless, on one line: logs hold what moves a cursor."""
    return re.sub(r"[\n\t]", lambda m: ascii(m[0])[1:-1], harmless(text))


def _where(match: Match, bold: Bold) -> Iterator[str]:
    """Where it happened, as far as the text says."""
    place = match.place
    if place is None:
        return
    line = place.own_line
    if line and place.source:
        line += f": {place.source}"
    named = (
        ("your line", line),
        ("supposed", place.condition),
        ("layer", place.layer),
        ("operation", place.operation),
        ("releases", match.releases),
    )
    if any(name for _, name in named):
        yield f"\n{bold('Where')}"
        yield from (f"  {what:<9}  {clean(name)}" for what, name in named if name)


def _answer(match: Match, cause: str, bold: Bold) -> Iterator[str]:
    """What is behind it, what mends it, what does not, and how that is known."""
    error = match.error
    # A case in full, as `explain ID` shows it, is no answer to a text.
    how_sure = SURE[match.confidence] if match.line else ""
    yield f"\n{bold('Cause')}{how_sure}\n{_paragraph(cause)}"
    if match.rivals and not (match.settled or (match.reading and match.reading.whole)):
        yield f"\n{bold('One of')}"
        yield from (row for each in match.rivals for row in _rival(each, match))
    yield f"\n{bold('Fix')}"
    yield from (f"    {row}".rstrip() for row in match.fix.splitlines())
    if error.useless:
        yield f"\n{bold('No help')}\n{_paragraph(error.useless)}"
    known = ", ".join((EVIDENCE[error.evidence], *error.citations))
    yield f"\n{bold('Known from')}\n{_paragraph(known)}"


def _rival(of_match: RivalFound, match: Match) -> Iterator[str]:
    """A rival cause: what to look for, what decides, what supports it here, what mends it."""
    rival = of_match.rival
    yield _paragraph(rival.cause, "  - ")
    if of_match.support is not None:
        yield _paragraph(f"supported by line {of_match.line}: {clean(of_match.support)}", "      ")
    else:
        yield _paragraph(f"look for {rival.look_for}", "      ")
    if rival.decide:
        yield f"      decide  {match.with_names(rival.decide)}"
    # The fix of the one that the text supports stands as the answer's own.
    if rival.fix and match.supported != of_match:
        first, *rest = match.with_names(rival.fix).splitlines()
        yield f"      fix     {first}"
        yield from (f"              {row}" for row in rest)


def _rival_data(of_match: RivalFound, match: Match | None = None) -> dict[str, object]:
    """A rival cause for programs; `support` is the text that speaks for it, null where none."""
    rival = of_match.rival
    decide, fix = (
        match.with_names(text) if match else with_values(text, {})
        for text in (rival.decide, rival.fix)
    )
    return {
        "cause": rival.cause,
        "look_for": rival.look_for,
        "decide": decide or None,
        "fix": fix or None,
        "support": of_match.support,
        "line": of_match.line,
        "families": rival.families,
    }


def _paragraph(text: str, indent: str = "  ") -> str:
    """Lines that fit, indented; names stay whole."""
    return textwrap.fill(
        text,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=" " * len(indent),
        break_long_words=False,
        break_on_hyphens=False,
    )
