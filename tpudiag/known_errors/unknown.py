"""An error that is not known: its own words whole, when it came, and what it is nearest to."""

import math
import re
from collections import Counter
from functools import cache

from tpudiag.records import dataclass

from .catalogue import known_errors
from .compiled import names, wording
from .doubt import of_another_world
from .facts import Facts, facts_of, status_of, unwrapped
from .message_grammar import OwnWords, own_words
from .model import KnownError, Phase
from .place import operation_in
from .plain_text import plain, without_prefixes
from .readings import of_unknown
from .readings.meaning import Reading
from .releases import reasons

LONGEST_HEAD = 1500
LONGEST_TAIL = 400
NEAREST = 3
LEAST_LIKENESS = 0.45
"""Of the weight of an error's words, that those shared must reach at least."""
LEAST_WORDS = 2
SATURATION, LENGTH = 1.2, 0.75
"""BM25's usual: how soon a word said again counts no more, how much a long text's count less."""

LONGEST_ROW = 2000
"""Characters of a row that patterns are tried on: longer ones, which programs write, are folded."""

_TRACEBACK = "Traceback (most recent call last):"
FEW_LINES = 20


@dataclass(frozen=True)
class UnknownError:
    """An error that is not in the catalogue."""

    text: str
    """Its own words: all exceptions of the chain, the cause first."""
    phase: Phase
    nearest: tuple[KnownError, ...]
    """Known errors that use its words, the most alike first."""
    status: str | None
    """Its status code, from the code, the exception's name or the words."""
    meaning: str
    """What its kind means."""
    operation: str | None
    facts: Facts
    own: OwnWords | None
    """What its sentence says itself."""
    reading: Reading | None
    """What the shapes, sizes and names in it mean."""

    @property
    def cause(self) -> str | None:
        """What its own words say of the cause, with what they name; None where they say nothing."""
        supposed = self.facts.place.condition
        if supposed and "AssertionError" in self.text:
            return f"The code supposes `{supposed}`, and that is not so."
        said = self.own.sentence if self.own else ""
        operand = self.facts.operand.cause if self.facts.operand else ""
        meant = self.reading.cause if self.reading else ""
        named = self.facts.unsaid(said + meant) if self.own else ""
        return " ".join(filter(None, (said, meant, operand, named))) or None

    @property
    def fix(self) -> str:
        """What the line that failed and its own words say of what mends it."""
        operand = self.facts.operand
        shown = operand.fix if operand and not (operand.looks and self.reading) else ""
        own = self.own.fix if self.own else ""
        place = self.facts.place
        # The line that makes the call is where something can be changed.
        at = f"# {place.own_line}: {place.source or 'the call in this line'}"
        meant = self.reading.fix if self.reading else ""
        rows = (at if place.own_line and self.cause else "", shown, meant, own)
        return "\n".join(filter(None, rows))

    @property
    def told(self) -> bool:
        """Whether its own words, or what they name, say its cause and what can be done."""
        return self.reading is not None or bool(self.own and self.own.fix)

    @property
    def next_steps(self) -> str:
        """What to look at next: commands, one a line."""
        return names()["next"][self.phase]


def unknown(text: str, *, unnamed: bool = True, remarked: int = 0) -> UnknownError | None:
    """The failure that a text ends with; None where there is none in it.

    `unnamed`: a short text's sentence without an exception's name counts as one. `remarked`: the
    last line, from 1 on, of which is known that it is no failure.
    """
    text = plain(without_prefixes(text.encode(errors="replace"))).decode(errors="replace")
    few_lines = text.count("\n") < FEW_LINES
    text = folded(text)
    raised, died = wording("unknown raised").match, wording("unknown died").search
    failures = [row.strip() for row in text.split("\n") if raised(row) or died(row)]
    if not failures and (
        ended := wording("unknown ended").match(text, max(0, text.rfind(_TRACEBACK)))
    ):
        failures = [ended[1].strip()]
    if not failures and few_lines:
        failures = [failure[0].strip() for failure in wording("unknown buried").finditer(text)]
        if not failures and unnamed:
            failures = [failure[0].strip() for failure in wording("unknown said").finditer(text)]
        failures = failures or _last_failing(text, remarked)
    if not failures:
        return None
    message = whole(text, failures)
    at = text.rindex(failures[-1])
    said = unwrapped(text[at:])[:LONGEST_HEAD]
    facts = facts_of(text)
    # The error's own words first: a log names the status of every retry that went well.
    meant = of_unknown(said) or reasons.read(text, text.count("\n", 0, at) + 1)
    if meant and of_another_world(f"{meant.cause} {meant.fix}".lower(), text):
        meant = None
    status = status_of(message) or facts.status
    operation = operation_in(message) or facts.place.operation
    exception = re.findall(r"\b([A-Z]\w{2,60}(?:Error|Exception))\b", message)
    means = names()["meanings"]
    meaning = means.get(status or "") or means.get(exception[-1] if exception else "", "")
    return UnknownError(
        message,
        # Of its own lines: those of a log around it tell of all that went well before.
        phase_of(text[text.rfind(_TRACEBACK) :] if _TRACEBACK in text else message),
        nearest(message),
        status,
        meaning,
        operation,
        facts,
        own_words(said),
        meant,
    )


def _last_failing(text: str, remarked: int) -> list[str]:
    """The last row, where it tells of a failure in plain words and was not logged as less."""
    rows = [row.strip() for row in text.split("\n")[remarked:] if row.strip()]
    last = rows[-1] if rows else ""
    failing, logged = wording("unknown failing"), wording("unknown logged")
    return [last] if failing.search(last) and not logged.match(last) else []


def folded(text: str) -> str:
    """A text whose rows are no longer than patterns are tried on."""
    if len(text) <= LONGEST_ROW:
        return text
    return wording("unknown long_row").sub(r"\g<0>\n", text)


def whole(text: str, failures: list[str]) -> str:
    """The exceptions of a chain, first to last; the last with all that follows it."""
    last = text[text.rindex(failures[-1]) :].strip()
    chain = dict.fromkeys([*failures[:-1], last])
    message = " | ".join(" ".join(each.split()) for each in chain)
    if len(message) <= LONGEST_HEAD + LONGEST_TAIL:
        return message
    return f"{message[:LONGEST_HEAD]} [\u2026] {message[-LONGEST_TAIL:]}"


def phase_of(text: str) -> Phase:
    """What the job was at, from the words of its error."""
    cues = names()["cues"]
    return next((Phase(phase) for phase, cue in cues.items() if re.search(cue, text)), Phase.ANY)


def nearest(text: str) -> tuple[KnownError, ...]:
    """The known errors whose own words are the most like an error's, by BM25."""
    texts = _texts()
    usual = sum(map(len, texts.values())) / len(texts)
    words = {
        word.lower()
        for word in wording("unknown word").findall(wording("unknown boilerplate").sub(" ", text))
    }
    scores, shared = dict[KnownError, float](), Counter[KnownError]()
    weight = 0.0
    for word in words:
        held = {error: often for error, own in texts.items() if (often := own.count(word))}
        rarity = math.log(1 + (len(texts) - len(held) + 0.5) / (len(held) + 0.5))
        weight += rarity if held else 0
        for error, often in held.items():
            damped = SATURATION * (1 - LENGTH + LENGTH * len(texts[error]) / usual)
            score = rarity * often * (SATURATION + 1) / (often + damped)
            scores[error] = scores.get(error, 0) + score
            shared[error] += 1
    ordered = sorted(scores, key=lambda error: -scores[error])
    best = (error for error in ordered if shared[error] >= LEAST_WORDS)
    return tuple(error for error in best if scores[error] >= LEAST_LIKENESS * weight)[:NEAREST]


@cache
def _texts() -> dict[KnownError, str]:
    """By a case all words of it."""
    return {each: each.words for each in known_errors() if each.patterns and not each.noise}
