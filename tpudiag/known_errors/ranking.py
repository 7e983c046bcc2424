"""What was found, one answer for each error, best first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from .compiled import wording
from .model import Kind, Level, Match, RivalFound
from .probes import Probe, probes

BEGINNING = 40
"""Characters by which the words of a match are found among those of another."""
SAME_PLACE_LINES = 4
"""Over so many lines a sentence is spread where a terminal or tracker wraps it."""
_LEVELS: tuple[Level, ...] = ("error", "warning", "info")


def ranked(matches: Mapping[Probe, Match]) -> tuple[Match, ...]:
    """One match for each error, told by the first of its patterns that matched; best first."""
    by_error: dict[str, list[Match]] = {}
    cues: dict[tuple[str, int], Match] = {}
    for probe in probes():
        if probe not in matches:
            continue
        match = matches[probe]
        if probe.rival is None:
            by_error.setdefault(match.error.id, []).append(match)
        else:
            cues.setdefault((match.error.id, probe.rival), match)
    merged = [_merged(group, cues) for group in by_error.values()]
    answers = [replace(each, secondary=_yields(each, merged)) for each in merged]
    best_first = sorted(answers, key=_rank)
    # Where two yield to each other, none is left that the first could follow from.
    return tuple(
        replace(each, secondary=each.secondary and at > 0) for at, each in enumerate(best_first)
    )


def last_raised_first(matches: Sequence[Match], before: int) -> tuple[Match, ...]:
    """The same where an exception was caught up to line `before` and another one raised.

    What only names the family of the one that was caught stands behind what is said of the other;
    where nothing is, it follows from it. What ended the program is told with its own fix.
    """
    first = next(iter(matches), None)
    if first is None:
        return ()
    later = [
        each
        for each in matches
        if each.last_line > before and each.error.level == "error" and not each.error.noise
    ]
    # What names a cause first, and the deepest.
    order = (
        (each.error.kind.value, -each.error.depth, each.line, at) for at, each in enumerate(later)
    )
    last = later[min(order)[-1]] if later else None
    whole = first.reading is not None and first.reading.whole
    vague = first.error.level == "error" and first.error.kind is not Kind.TELLING and not whole
    if not vague or first.last_line > before:
        return tuple(
            replace(each, secondary=each.secondary and each is not last) for each in matches
        )
    told = [replace(last, secondary=False)] if last else []
    return (*told, *(replace(each, secondary=True) for each in matches if each is not last))


def only_warned_of(matches: Sequence[Match], text: str) -> tuple[Match, ...]:
    """Those that stand in a warning, where an exception was raised after it."""
    rows = text.split("\n")
    raised = wording("facts exception").match
    last = next((at for at in range(len(rows), 0, -1) if raised(rows[at - 1])), 0)
    earlier = (each for each in matches if each.last_line < last)
    return tuple(
        each for each in earlier if wording("facts warned").match(rows[each.last_line - 1])
    )


def _merged(group: list[Match], cues: Mapping[tuple[str, int], Match]) -> Match:
    """The matches of all patterns of an error as one, with what supports its rival causes."""
    error = group[0].error
    rivals = [
        RivalFound(rival=rival, support=cue.excerpt, line=cue.line)
        if (cue := cues.get((error.id, number)))
        else RivalFound(rival=rival)
        for number, rival in enumerate(error.rivals)
    ]
    return replace(
        min(group, key=lambda each: each.reading is None),  # a line with figures tells more
        line=min(each.line for each in group),
        last_line=max(each.last_line for each in group),
        # Not added up: several patterns of an error meet the same lines.
        count=max(each.count for each in group),
        rivals=tuple(sorted(rivals, key=lambda each: each.support is None)),
    )


def _yields(match: Match, among: list[Match]) -> bool:
    """Whether another of the errors found is the cause of this one, or tells more of it."""
    # A warning that tells more is no cause of a failure.
    kinds = (each.error.kind.value for each in among if each.error.level == "error")
    return (
        any(_is_narrower(each, match) for each in among)
        or min(kinds, default=match.error.kind.value) < match.error.kind.value
    )


def _is_narrower(other: Match, match: Match) -> bool:
    """Whether another match says of the same place what a deeper case is about."""
    deeper = other.error.depth > match.error.depth
    # What is worse does not say what a warning is about; a remark may say that an error is none.
    as_bad = _LEVELS.index(other.error.level) >= _LEVELS.index(match.error.level)
    left, right = ("".join(each.excerpt.split()) for each in (match, other))
    shared = left[:BEGINNING] in right or right[:BEGINNING] in left
    same_place = shared or abs(other.line - match.line) <= SAME_PLACE_LINES
    return deeper and as_bad and same_place and other.error.kind.value <= match.error.kind.value


def _rank(match: Match) -> tuple[bool, int, int, bool, int, str]:
    """Causes before consequences, failures before warnings, then as in the text.

    What stands in the source line of a frame, as `raise ValueError(f"... {value}")`, comes behind
    what was really said.
    """
    error, quoted = match.error, match.told_by != "words"
    level = _LEVELS.index(error.level)
    return match.secondary, level, error.kind.value, quoted, match.line, error.id
