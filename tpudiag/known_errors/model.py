"""What is known of an error, and what a search for it found."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field
from enum import Enum, StrEnum
from functools import cache
from typing import TYPE_CHECKING, Literal

from tpudiag.records import dataclass

from .plain_text import ToldBy
from .readings.meaning import Reading
from .readings.narrower import Narrower

if TYPE_CHECKING:
    from .facts import Facts
    from .message_grammar import OwnWords
    from .place import Place

MOST_COUNTED = 10_000
"""Matches of a pattern that are counted: a log that says one thing all over is not slower."""

MANY_SENTENCES = 10
"""Patterns of an error from which on it is about a family of causes."""

MANY_CAUSES = 2
"""Alternatives in the words of a cause from which on it decides nothing by itself."""
_OR = re.compile(r"\bor\b")

Level = Literal["error", "warning", "info"]
Confidence = Literal["high", "medium", "low"]
Known = Literal["reproduced", "reported", "recalled"]


class Phase(StrEnum):
    """What a job was at when it failed."""

    INSTALLING = "installing"
    CREATING = "creating the TPU"
    RESOLVING = "finding the TPU"
    CONNECTING = "connecting to the TPU"
    INITIALISING = "initialising the TPU"
    BUILDING = "building the model"
    TRACING = "tracing the step"
    COMPILING = "compiling for the TPU"
    LOADING = "loading the program"
    EXECUTING = "running the step"
    READING = "reading data"
    SAVING = "saving or restoring"
    WATCHING = "profiling or monitoring"
    ANY = "any"


class Kind(Enum):
    """How much the text of an error tells of its cause."""

    TELLING = 0
    """It names the cause."""
    BROAD = 1
    """It names the family; an error that tells more stands before it."""
    CONSEQUENCE = 2
    """It follows from something else; every other error stands before it."""


@dataclass(frozen=True, kw_only=True)
class Rival:
    """One of several causes that leave the same text, and how it is told from the others.

    `cues` are patterns (as those of KnownError): found anywhere in the text, they support it.
    `families`: those of the known errors that this cause would be, were the text whole.
    """

    cause: str
    look_for: str
    decide: str = ""
    fix: str = ""
    cues: tuple[str, ...] = ()
    families: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class KnownError:
    """An error whose text, cause and fix are known.

    - `id`: E.. errors and warnings, P.. porting of old scripts, N.. noise, R.. said by a rehearsal
      on CPU replicas only; never reused.
    - `family`: what it has in common with others, in words.
    - `patterns`: regular expressions, the most telling first; one match is enough. A space stands
      for any white space, or none: texts are searched without theirs, and without case. No
      unbounded repeat and no bare `|` outside a group. Named groups become values.
    - `cause`: sentences. `details`: sentences with {values}, said where the text gave all theirs.
    - `fix`: copyable; `useless`: what is often tried and does not help.
    - `rivals`: where the text alone does not decide.
    - `citations`: repository#number. `example` and `more_examples`: texts that must match;
      `miss`: must not.
    - `depth`: how narrow it is: of two that are said at one place, the deeper is the answer.
    - `narrower`: cases within this one, the most telling first: the first that holds is the answer.
    - `whole`: whether it tells all of it: its shapes and objects mean nothing else.
    - `open`: whether several causes leave its text, so that alone it is no answer.
    - `common`: whether any program may say its words: what nothing in the text speaks for is none.
    - `of_data`: whether values, sizes or types of the data may be to blame; None as its phase says.
    """

    id: str
    family: str
    phase: Phase
    patterns: tuple[str, ...]
    cause: str
    fix: str
    example: str
    miss: str = ""
    more_examples: tuple[str, ...] = ()
    level: Level = "error"
    kind: Kind = Kind.TELLING
    details: tuple[str, ...] = ()
    useless: str = ""
    rivals: tuple[Rival, ...] = ()
    citations: tuple[str, ...] = ()
    evidence: Known = "reported"
    depth: int = 0
    narrower: tuple[Narrower, ...] = ()
    rehearsal_only: bool = False
    whole: bool = False
    of_data: bool | None = None
    open: bool = False
    common: bool = False

    @property
    def is_family(self) -> bool:
        """Whether it gathers many sentences or causes: alone it does not say which of them."""
        alternatives = len(_OR.findall(self.cause))
        return len(self.patterns) >= MANY_SENTENCES or alternatives >= MANY_CAUSES

    @property
    def words(self) -> str:
        """All that it says, and that is said of it, in lower case."""
        parts = (f"{each.hit} {each.cause} {each.says}" for each in self.narrower)
        own = (self.example, *self.more_examples, *self.patterns, self.cause, self.fix)
        return " ".join((*own, self.family, *parts)).lower()

    @property
    def noise(self) -> bool:
        """Whether it only looks like an error."""
        return self.id.startswith("N")


@dataclass(frozen=True, kw_only=True)
class RivalFound:
    """A rival cause, and the text that supports it (None: the text is silent about it)."""

    rival: Rival
    support: str | None = None
    line: int | None = None


@dataclass(frozen=True, kw_only=True)
class Match:
    """A known error in a text: where, how often (at least), and the values that the text gave.

    `secondary` is true where another error in the same text is the cause of this one, or tells
    more of it.
    """

    error: KnownError
    excerpt: str
    line: int
    last_line: int
    count: int = 1
    values: dict[str, str] = field(default_factory=dict[str, str])
    rivals: tuple[RivalFound, ...] = ()
    secondary: bool = False
    reading: Reading | None = None
    """What its own names, shapes and arguments mean."""
    place: Place | None = None
    """Where it happened, by the traceback that ends with it."""
    facts: Facts | None = None
    """What its text names."""
    own: OwnWords | None = None
    """What its sentence says itself, where its case leaves the cause open."""
    advised: tuple[str, ...] = ()
    """What its sentence says itself that is to be done, where its case gathers several."""
    releases: str = ""
    """The versions of its packages that the text names, in words."""
    told_by: ToldBy = "words"
    """What it was recognised by: a frame of the traceback says less than the error's own words."""
    names: dict[str, str] = field(default_factory=dict[str, str])
    """By the blank that they fill in a fix: TPU, zone, project, bucket, script of this user."""
    near: tuple[str, int] = ("", 0)
    """The lines around it, and which of them is its own: of a log they are all that is kept."""

    def within(self, text: str, whole: bool) -> tuple[str, int]:
        """A text that holds it, and its line there; `whole`: that is the one it was found in."""
        return (text, self.line) if whole else self.near

    @property
    def supported(self) -> RivalFound | None:
        """The one rival cause that the rest of the text supports, if it is one."""
        told = self.reading is not None and self.reading.whole  # by the text itself
        supported = [each for each in self.rivals if each.support is not None and not told]
        # Two that are supported decide nothing.
        return supported[0] if len(supported) == 1 else None

    @property
    def confidence(self) -> Confidence:
        """How sure the cause is."""
        error, read = self.error, self.reading
        shown = self.facts.operand if self.facts else None
        mends = shown is not None and not shown.looks  # the line that failed tells it
        untold = read is None and self.supported is None
        if untold and self.excerpt.rstrip().endswith(":"):
            return "low"  # what failed stood behind it
        untold &= not mends and not self.settled
        vague = error.kind is Kind.BROAD and error.is_family
        if untold and (error.kind is Kind.CONSEQUENCE or vague):
            return "low"
        if error.rivals or error.open:
            return "low" if untold else "medium"
        telling = error.kind is Kind.TELLING and self.told_by == "words"
        sure = not error.is_family if read is None else not read.guess
        return "high" if telling and sure else "medium"

    @property
    def settled(self) -> bool:
        """Whether its own words say what its case, which gathers several causes, leaves open."""
        said = self.own is not None and self.own.is_contract
        return said and self.error.kind is not Kind.TELLING

    @property
    def is_open(self) -> bool:
        """Whether its text alone does not tell the cause."""
        telling = self.error.kind is Kind.TELLING and not self.error.open
        return not telling or self.confidence == "low"

    @property
    def undecided(self) -> bool:
        """Whether the text fits several causes and speaks for none of them."""
        return self.error.level == "error" and not self.secondary and self.confidence == "low"

    @property
    def message(self) -> str:
        """The cause, the details for which the text gave all values, and what decides."""
        read, own, general = self.reading, self.own, self.error.cause
        decided = self.supported
        # What this very text says comes first, and what its family is about is told apart from it.
        first = own.sentence if own and not decided else read.cause if read else ""
        if own and not self.is_open and not self.error.is_family:
            cause = f"{general} It says: {own.sentence}"
        elif own and self.settled and self.error.kind is Kind.BROAD:
            cause = own.sentence
        elif read and (read.whole or self.error.common):
            cause = first
        else:
            cause = f"{first} In general: {general}" if first else general
        parts = [with_values(cause, self.names | self.values)]
        if not (read and read.whole):
            parts += (_filled(detail, self.values, parts[0]) for detail in self.error.details)
        if decided:
            parts.append(f"The rest of the text supports: {decided.rival.cause}")
        told = " ".join(filter(None, parts))
        operand = self.facts.operand.cause if self.facts and self.facts.operand else ""
        named = self.facts.unsaid(told, self.excerpt) if self.facts else ""
        return " ".join(filter(None, (operand, told, named)))

    @property
    def fix(self) -> str:
        """What mends the supported cause, or any."""
        decided = self.supported
        fix = self.with_names((decided.rival.fix if decided else "") or self.error.fix)
        read = self.with_names(self.reading.fix) if self.reading else ""
        if self.reading is not None and self.reading.alone:
            return read
        open_ = self.is_open and decided is None
        own = self.own.fix if self.own is not None and open_ and not read else ""
        operand = self.facts.operand if self.facts else None
        # What only shows what is there comes before what is a guess.
        first = operand and (not operand.looks or (open_ and not read))
        own = own or ("\n".join(self.advised) if decided is None else "")
        told = self.error.common and self.reading is not None and not self.reading.guess
        told &= self.facts is not None and not self.facts.shapes  # sizes may mean several things
        if told or (self.settled and own and self.error.kind is Kind.BROAD):
            fix = ""  # what mends others of its family is no answer to this one
        said = {each.split("  ")[0] for each in read.split("\n") if not each.endswith(":")}
        fix = "\n".join(e for e in fix.split("\n") if e.split("  ")[0] not in said - {""})
        rows = (operand.fix if operand and first else "", own, read, fix)
        return "\n# if that is not it:\n".join(filter(None, rows))

    def with_names(self, text: str) -> str:
        """A fix or command with the values and names of this text in its blanks."""
        text = with_values(text, self.names | self.values)
        if not self.names:
            return text
        from .blanks import filled  # most texts name nothing that could be filled in

        return filled(text, self.names)


@cache
def defaults() -> dict[str, str]:
    """What a blank says where the text gives nothing for it: a command that finds it out."""
    from tpudiag.installs.words import BLANKS  # its table is read where a blank is left

    keras2 = "tf-keras==$(python -c 'import tensorflow as tf; print(tf.__version__[:4])').*"
    return {**BLANKS, "keras2": keras2}


def with_values(text: str, values: Mapping[str, str]) -> str:
    """A text with its `<<name>>` replaced: by the value, what finds it out, or its capitals.

    A row with a blank whose value is known to be nothing is left out.
    """
    if "<<" not in text:
        return text
    empty = [f"<<{name}>>" for name, value in values.items() if not value]
    rows = [row for row in text.split("\n") if not any(hole in row for hole in empty)]
    return re.sub(
        r"<<(\w+)>>",
        lambda hole: values.get(hole[1]) or defaults().get(hole[1], hole[1].upper()),
        "\n".join(rows or [text]),
    )


def _filled(detail: str, values: dict[str, str], told: str) -> str:
    """A detail with its values, or nothing where one is missing, or all were told."""
    named = [values.get(name) for name in re.findall(r"\{(\w+)\}", detail)]
    unsaid = all(named) and not all(f"`{each}`" in told for each in named)
    return detail.format_map(values) if unsaid else ""
