"""The patterns of all known errors, ready to be searched for at once.

An Aho-Corasick automaton looks for the longest literal of every pattern in one pass; only where
one occurs is its pattern tried. Time grows with the text, not with the number of errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from .catalogue import known_errors

if TYPE_CHECKING:
    from ahocorasick_rs import BytesAhoCorasick

NO_OUTPUT = "(?<!ou)tpu"
"""A TPU; "output" holds its letters too."""


class Probe(NamedTuple):
    """One pattern: of which error, of which of its rivals (None: of the error itself)."""

    error: int
    rival: int | None
    pattern: str


class Form(NamedTuple):
    """A pattern as it is searched for: whole, or one branch of its choices."""

    probe: Probe
    pattern: str

    @property
    def anchor(self) -> bytes:
        """The longest literal of every match."""
        return _anchor_of(self.pattern).encode()

    @property
    def other(self) -> bytes:
        """A second literal of every match, where that is quicker to miss than the pattern."""
        return _other_literal(self.pattern).encode() if self.reach >= LONG_REACH else b""

    @property
    def reach(self) -> int:
        """Bytes that a match can span at most, an upper bound."""
        return longest(self.pattern)

    @property
    def lead(self) -> int:
        """Bytes that can stand before the anchor in a match at most, an upper bound."""
        return lead(self.pattern)

    @property
    def regex(self) -> re.Pattern[bytes]:
        """For text without white space, in lower case."""
        return compiled(self.pattern)


@cache
def probes() -> tuple[Probe, ...]:
    """The patterns of all errors, the most telling of each first."""
    return tuple(
        Probe(number, rival, pattern)
        for number, error in enumerate(known_errors())
        for rival, patterns in (
            (None, error.patterns),
            *((at, each.cues) for at, each in enumerate(error.rivals)),
        )
        for pattern in patterns
    )


TELLING = 9
"""Bytes from which on an anchor is rare in a log; `dataset`, `steps`, `example` are not."""
MOST_ALTERNATIVES = 8
LONG_REACH = 300
"""Bytes that a pattern may span from which on looking for its second literal first is quicker."""
COMMON = frozenset(
    (
        *(
            "tensorflow",
            "tensorflow/",
            "checkpoint",
            "checkpoints",
            "global_step",
            '.py",line',
            "gs://",
        ),
        *(
            "dataset",
            "training",
            "keras/",
            "saving",
            "/python/",
            "valueerror:",
            "runtimeerror:",
            "typeerror:",
            "example",
        ),
        *(
            "traceback",
            "iteratorgetnext",
            "function_node",
            "/job:worker",
            "/device:tpu:",
            "warning:",
        ),
    )
)
"""Words of healthy logs and of all tracebacks, and how many bytes of a rarer one they are worth."""
COMMON_BYTES = 5
LARGE_BYTES = 65_536
"""Texts from here on are worth the tenth of a second that taking patterns apart costs."""
_GROUP = re.compile(r"\(\?P<(\w+)>((?:\\.|[^()\\])*)")
_WORDS = re.compile(r"(?<!\\)\.\{|\\w ")
"""Anything, or letters and blanks."""
_CHOICE = re.compile(r"\(\?:([^()\[\\]*\|[^()\[\\]*)\)(?![?*+{])")


@cache
def alternatives(pattern: str) -> tuple[str, ...]:
    """A pattern taken apart at its choices, where that makes longer anchors: fewer false hits."""
    best: tuple[str, ...] = (pattern,)
    weakest = _anchor_bytes(pattern)
    if weakest >= TELLING:
        return best
    numbers = range(pattern.count("(?:"))
    once = [_apart(best, number) for number in numbers]
    for variants in (*once, *(_apart(each, number) for each in once for number in numbers)):
        if len(variants) <= MOST_ALTERNATIVES and min(map(_anchor_bytes, variants)) > weakest:
            best, weakest = variants, min(map(_anchor_bytes, variants))
    return best


def _apart(variants: tuple[str, ...], number: int) -> tuple[str, ...]:
    """Variants of a pattern, their choice of this number replaced by each of its branches."""
    made: list[str] = []
    for variant in variants:
        choice = next(islice(_CHOICE.finditer(variant), number, None), None)
        if choice is None or _depth(variant[: choice.start()]):
            made.append(variant)
            continue
        head, tail = variant[: choice.start()], variant[choice.end() :]
        made += [f"{head}{branch}{tail}" for branch in choice[1].split("|")]
    return tuple(dict.fromkeys(made))


def _depth(head: str) -> int:
    """How many groups are open at the end of the beginning of a pattern."""
    bare = re.sub(r"\\.|\[(?:[^\]\\]|\\.)*\]", "", head)
    return bare.count("(") - bare.count(")")


def _anchor_bytes(pattern: str) -> int:
    """How telling a pattern's anchor is."""
    return telling_bytes(_anchor_of(pattern))


@cache
def _anchor_of(pattern: str) -> str:
    """The longest literal that every match of a pattern holds, in lower case without blanks."""
    return anchor(squeezed_pattern(pattern))


@cache
def _other_literal(pattern: str) -> str:
    """The longest literal beside the anchor that every match of a pattern holds."""
    literals = list(_literals(squeezed_pattern(pattern)))
    literals.remove(_anchor_of(pattern))
    return max(literals, key=len, default="")


@cache
def _anchored(apart: bool) -> tuple[BytesAhoCorasick, tuple[tuple[Form, ...], ...]]:
    """Finds all anchors at once; the forms of each, many share theirs."""
    from ahocorasick_rs import BytesAhoCorasick

    of_anchor: dict[bytes, list[Form]] = {}
    for probe in probes():
        for pattern in alternatives(probe.pattern) if apart else (probe.pattern,):
            form = Form(probe, pattern)
            of_anchor.setdefault(form.anchor, []).append(form)
    return BytesAhoCorasick(list(of_anchor)), tuple(map(tuple, of_anchor.values()))


def candidates(text: bytes) -> dict[Probe, list[tuple[Form, list[int]]]]:
    """Where the anchors of patterns are in a text without white space, in lower case."""
    automaton, forms_of = _anchored(len(text) > LARGE_BYTES)
    places: dict[int, list[int]] = {}
    # An anchor may lie within another one.
    for number, start, _ in automaton.find_matches_as_indexes(text, overlapping=True):
        places.setdefault(number, []).append(start)
    forms: dict[Probe, list[tuple[Form, list[int]]]] = {}
    for number, starts in places.items():
        for form in forms_of[number]:
            forms.setdefault(form.probe, []).append((form, starts))
    return forms


@cache
def compiled(pattern: str) -> re.Pattern[bytes]:
    """A pattern for text without white space, in lower case."""
    return re.compile(squeezed_pattern(pattern).encode())


@cache
def phrase_groups(pattern: str) -> frozenset[str]:
    """Its groups that hold words, of which the blanks between them are a part."""
    return frozenset(name for name, body in _GROUP.findall(pattern) if _WORDS.search(body))


@cache
def longest(pattern: str) -> int:
    """Bytes that a match of a pattern can span at most, an upper bound."""
    # Each repeat at its upper bound, all else as long as it is written: never too short.
    return sum(int(bound) for bound in re.findall(r"(\d+)\}", pattern)) + len(pattern)


@cache
def lead(pattern: str) -> int:
    """Bytes that can stand before the anchor in a match at most, an upper bound."""
    literal = re.sub(r"\\(\W)", r"\1", squeezed_pattern(pattern).replace(NO_OUTPUT, "tpu"))
    wanted = anchor(squeezed_pattern(pattern))
    before, _, after = literal.partition(wanted)
    return longest(literal if wanted in after else before)


def squeezed_pattern(pattern: str) -> str:
    """A pattern without its blanks and without capitals, but those that have a meaning."""
    parts = re.split(r"(\\.|\(\?P<\w+>)", pattern.replace(" ?", "").replace(" ", ""))
    lowered = (part if number % 2 else part.lower() for number, part in enumerate(parts))
    return re.sub(r"(?<![a-z_])tpu", NO_OUTPUT, "".join(lowered))


_TOKEN = re.compile(
    r"(?P<quantifier>[?*+]\??|\{[^}]*\}\??)|(?P<open>\((?:\?(?:P<\w+>|[:=!]|<[=!]))?)|(?P<close>\))"
    r"|(?P<any>\\\w|\[(?:[^\]\\]|\\.)*\]|[.^$|])|\\(?P<escaped>\W)|(?P<literal>[^?*+{}()\\\[\].^$|]+)"
)


def anchor(pattern: str) -> str:
    """The most telling literal that every match of a pattern holds; empty where there is none."""
    return max(_literals(pattern), key=telling_bytes, default="")


def _literals(pattern: str) -> Iterator[str]:
    """The literals that every match of a pattern holds."""
    run = ""
    depth = 0
    for token in _TOKEN.finditer(pattern.replace(NO_OUTPUT, "tpu")):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        # What is in a group may be optional, or one of several: no literal of every match.
        elif depth:
            continue
        elif kind in {"literal", "escaped"}:
            run += token[kind]
            continue
        elif kind == "quantifier":
            run = run[:-1]  # a quantifier binds the last character only
        yield run
        run = ""
    yield run


def telling_bytes(run: str) -> int:
    """How much a literal narrows a search: its length, but for what nearly every log is full of."""
    return len(run) if run not in COMMON else min(len(run), COMMON_BYTES)
