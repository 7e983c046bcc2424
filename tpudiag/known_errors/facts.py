"""One reading of any error text, before any case is tried: what it names, each with its type."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from tpudiag.records import dataclass

from .compiled import wording, wordings
from .place import Place, operation_in, place_of
from .plain_text import plain, without_prefixes

if TYPE_CHECKING:
    from .operand import Operand

MOST = 6
"""Of a kind: what a text names more often is a list of all there is."""
LONGEST_READ = 20_000
"""Characters at the end of a text that are read."""

LINES_WHOLE = 40
"""Up to so many lines a text is one error."""
LINES_BEFORE, LINES_BEHIND = 300, 12
MOST_QUOTED, LONGEST_SENTENCE = 3, 400
"""Quoted names of a sentence: more are a list of all there is."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What an error text names; empty where it does not."""

    exception: str | None
    place: Place
    devices: tuple[str, ...]
    types: tuple[str, ...]
    shapes: tuple[str, ...]
    differ: str | None
    """Where the first two shapes, of one rank, differ."""
    apart: str
    """Which names only one of two structures has, in sentences."""
    sizes: tuple[str, ...]
    quoted: tuple[str, ...]
    """The few names that its sentence quotes."""
    status: str | None
    """Its status code, from the code, the exception's name or the words."""
    library_line: str | None
    """The last line of the traceback, where it is a library's."""
    operand: Operand | None
    """Which part of the line that failed it speaks of."""

    def unsaid(self, told: str, shown: str = "") -> str:
        """What an answer does not say of what its text names, as a sentence at its end.

        `shown`: the words of the error that stand above it.
        """
        bare = _squeezed(told)
        shapes = " and ".join(self.shapes[:2]) if len(self.shapes) > 1 else ""
        if shapes and self.differ:
            shapes += f" ({self.differ})"
        said = bare + _squeezed(f"{self.place.operation} {shown}")
        quoted = tuple(each for each in self.quoted if _squeezed(each) not in said)
        named = (
            ("operation", self.place.operation or "", (self.place.operation or "",)),
            ("layer", self.place.layer or "", ((self.place.layer or "").partition(" ")[0],)),
            ("shapes", shapes, self.shapes[:2]),
            ("types", " and ".join(self.types[:2]) if len(self.types) > 1 else "", self.types[:2]),
            ("device", self.devices[0] if self.devices else "", self.devices[:1]),
            ("sizes", ", ".join(self.sizes[:2]), self.sizes[:2]),
            ("", ", ".join(quoted[:2]), quoted),
        )
        parts = [
            f"{what} {value}".strip()
            for what, value, needed in named
            if value
            and not wording("facts of_all").search(value)
            and not all(_squeezed(each) in bare for each in needed)
        ]
        named_here = f"Named here: {'; '.join(parts)}." if parts else ""
        of_shapes = re.search("^(?!.*differindim).*(?:shape|dim|rank|broadcast)", bare)
        known = "shapes" in named_here or _squeezed(self.differ or "") in bare
        if self.differ and of_shapes and not known:
            named_here += f" The shapes differ in {self.differ}."
        return f"{named_here} {self.apart}".strip()

    def rows(self) -> Iterator[tuple[str, str]]:
        """Each fact with its name, for people and programs."""
        place = self.place
        named = {"exception": self.exception, "operation": place.operation, "layer": place.layer}
        named |= {"supposed": place.condition, "devices": ", ".join(self.devices)}
        named |= {"types": ", ".join(self.types), "shapes": ", ".join(self.shapes)}
        named |= {"differ in": self.differ, "sizes": ", ".join(self.sizes)}
        named |= {"your line": place.own_line, "library": self.library_line}
        yield from ((what, value) for what, value in named.items() if value)


def facts_of(text: str) -> Facts:
    """What a text names: freed of colours, log prefixes and Keras' sentence around an error."""
    bare = plain(without_prefixes(text.encode(errors="replace"))).decode(errors="replace")
    bare = bare[-LONGEST_READ:]
    said = wording("facts beside").sub(" ", unwrapped(bare))
    exceptions = wording("facts exception").findall(said)
    # JAX marks what differs in a long list of what does not.
    marked = said.partition("DIFFERENT ")[2].partition("',")[0] or said
    shapes = _first(
        f"[{(square or round_).replace(' ', '').rstrip(',')}]"
        for square, round_ in wording("facts shape").findall(marked)
    )
    meet = len(shapes) > 1 and wording("facts meet").search(said)
    # From the last exception on: what stands before it is mostly source.
    begins = [found.start() for found in wording("facts exception").finditer(said)]
    words = wording("facts arguments").split(said[begins[-1] :] if begins else said, 1)[0]
    named = wording("facts quoted").findall(words[:LONGEST_SENTENCE])
    quoted = _first([each for each in named if not each.endswith((".cc", ".py"))])
    frames = wording("facts frame").findall(bare)
    place = place_of(bare)
    # Who pastes no traceback pastes the line that failed above its error.
    above = "" if frames else said[: said.rfind(words)].rstrip().rpartition("\n")[2]
    operand = None
    if raised := place.raised or place.source or above:
        from .operand import operand_of  # only where a text shows the line that failed

        operand = operand_of(said, raised, place.source)
    last = ":".join(frames[-1]) if frames else None
    return Facts(
        exception=exceptions[-1] if exceptions else None,
        place=place,
        devices=_first(wording("facts device").findall(said)),
        types=_first(found.lower() for found in wording("facts type").findall(words)),
        shapes=shapes,
        differ=_differ(*shapes[:2], stretched="ncompatible shapes" in said) if meet else None,
        apart=_apart(said),
        sizes=_first(wording("facts size").findall(words)),
        quoted=quoted if len(quoted) <= MOST_QUOTED else (),
        status=status_of(said),
        library_line=last if last != place.own_line else None,
        operand=operand,
    )


def facts_near(text: str, line: int) -> Facts:
    """What the error on a line of a text names; the frames before it say where it stands."""
    rows = text.split("\n")
    behind = "\n".join(rows[line - 1 : line + LINES_BEHIND])
    around = rows[max(0, line - LINES_BEFORE) : line + LINES_BEHIND]
    facts = facts_of(text if len(rows) <= LINES_WHOLE else "\n".join(around))
    operation = facts.place.operation
    if operation is None or operation not in behind:
        # A log names the operations of other errors too.
        operation = operation_in(behind) or operation
    return replace(facts, place=replace(facts.place, operation=operation))


def _squeezed(text: str) -> str:
    """A text as names and shapes are compared in it."""
    return re.sub(r"[\s()\[\]]", "", text.replace("None", "?")).lower()


def unwrapped(text: str) -> str:
    """A text in which the error itself stands, without `Exception encountered when calling`."""
    for _ in range(MOST):
        wrapped = wording("facts keras_call").search(text)
        if wrapped is None:
            return wording("facts handed_on").sub("Error: ", text, count=1)
        text = f"{text[: wrapped.start()]}{wrapped['head']}{wrapped['said']}{text[wrapped.end() :]}"
    return text


def _first(found: Iterator[str] | list[str]) -> tuple[str, ...]:
    """What was found, each once, in its order."""
    return tuple(dict.fromkeys(found))[:MOST]


def _differ(one: str, other: str, *, stretched: bool) -> str | None:
    """The dimensions in which two shapes of one rank differ."""
    left, right = one[1:-1].split(","), other[1:-1].split(",")
    if len(left) != len(right):
        short, long = sorted((left, right), key=len)
        tail = [(a, b) for a, b in zip(short[::-1], long[::-1], strict=False) if a != b]
        if tail and long[: len(short)] != short and all((a + b).isdigit() for a, b in tail):
            return f"size, counted from the last axis: {'; '.join(map(' and '.join, tail))}"
        more = f", an axis of {long[0]} more in front" if long[1:] == short else ""
        return f"rank: {len(left)} and {len(right)}{more}"
    pairs = [(at, a, b) for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b]
    pairs = [each for each in pairs if each[1].isdigit() and each[2].isdigit()]
    # What is computed element by element stretches an axis of one.
    apart = [each for each in pairs if stretched and "1" not in each]
    return "; ".join(f"dimension {at}: {a} and {b}" for at, a, b in apart or pairs) or None


def _apart(text: str) -> str:
    """Which names only one of two structures has, that an error prints whole."""
    both = wording("facts structures").search(text)
    one, other = (set(re.findall(r"'(\w+)':", each)) for each in (both.groups() if both else "  "))
    return " ".join(
        f"Only the {which} structure has `{', '.join(sorted(more))}`."
        for which, more in (("first", one - other), ("second", other - one))
        if 0 < len(more) <= MOST
    )


def status_of(text: str) -> str | None:
    """The status code that a text names, in any of its spellings."""
    found = next(filter(None, (form.search(text) for form in wordings("facts status"))), None)
    return re.sub(r"(?<=[a-z])(?=[A-Z])| ", "_", found[1]).upper() if found else None
