"""What an error's own sentence says: of what, what was wanted, what came, what to do instead.

Most errors that a library raises itself are a contract in words (`X must be Y, received Z`): they
are read by their grammar, whatever they are about.
"""

import re
from difflib import get_close_matches

from tpudiag.records import dataclass

from .compiled import names, wording, wordings

LONGEST_SAID = 1500
MOST_ADVICE = 3

_RANKS = {"scalar": 0, "vector": 1, "matrix": 2}
_KIND = (
    r"(?:(?:to be )?(?:an?|the|of|type|instance|object|either|Python|\W?class) |[<`'\"])*(?:\w+\.)*"
)
"""What stands before the type that is wanted."""


@dataclass(frozen=True, kw_only=True)
class OwnWords:
    """An error's sentence, taken apart; None and empty where it does not say."""

    cause: str
    """The part of it that says what is refused."""
    about: str | None
    """The argument or option that it is about."""
    wanted: str | None
    given: str | None
    advice: tuple[str, ...]
    """Sentences that say what to do."""
    lacks: str | None
    """What was not given."""

    @property
    def is_contract(self) -> bool:
        """Whether it says what was wanted, and of what or what came."""
        return bool(self.wanted and (self.given or self.about))

    @property
    def sentence(self) -> str:
        """What is refused, and what came where that stands elsewhere."""
        got = self.given if self.given and self.given not in self.cause else None
        return f"{self.cause.rstrip('.')}." + (f" It got {got}." if got else "")

    @property
    def fix(self) -> str:
        """What can be done about it: its own advice, and how to see what came."""
        rows = [*self.advised, *self._says(urging=False)]
        got = f"; here it is {self.given}" if self.given else ""
        if inside := wording("grammar inside").match(self.wanted or ""):
            what = self.cause.partition(" ")[0]
            rows.append(
                f"# {what} goes into {inside['where']}: moved there, out of what runs before"
            )
        elif self.wanted and self.about and self.given:
            rows.append(f"{self.about}=...      # wanted: {self.wanted}{got}")
        elif self.wanted and self.about:
            rows.append(f"print(type({self.about}), {self.about})      # wanted: {self.wanted}")
        elif self.wanted:
            rows.append(f"# wanted: {self.wanted}{got}")
        elif self.about and (never := wording("grammar never").search(self.cause)):
            rows.append(f"{self.about}=...      # {never[0].rstrip('.')}{got}")
        elif self.given and self.about:
            rows.append(f"{self.about}=...      # {self.given} is refused")
        rows += (*self._made, *self._meant)
        if more := self._dimensions_more:
            one = "one dimension" if abs(more) == 1 else f"{abs(more)} dimensions"
            rows.append(
                f"x = tf.squeeze(x)      # {one} too many; a whole batch where one example is"
                " wanted: before dataset.batch(), or tf.map_fn(f, x)"
                if more > 0
                else f"x = x[tf.newaxis, ...]      # {one} too few: one example where a batch is"
                " wanted: after dataset.batch()"
            )
        if over := wording("grammar over").search(self.cause):
            much, most = (int(each) / 1e9 for each in over.groups())
            rows.append(f"# {much:.2f} GB against {most:.2f} GB: {abs(much - most):.2f} GB apart")
        forms = wordings("grammar divided")
        for divided in filter(None, (form.search(self.cause) for form in forms)):
            whole, part = int(divided["whole"]), max(1, int(divided["part"]))
            below = whole // part * part
            fits = f"{below} or {below + part}" if below else f"{part}"
            rows.append(f"# {fits} in place of {whole}: multiples of {part}")
        return "\n".join(rows)

    @property
    def _made(self) -> list[str]:
        """How what is wanted is made of what came, where it is a type that is known."""
        made = names()["made"].items()
        said = next((row for kind, row in made if re.match(_KIND + kind, self.wanted or "")), "")
        of = self.about if self.about and self.about.isidentifier() else "x"
        # What came may be a kind of it: a FrozenDict is a dict by another name.
        word = (re.findall(r"[A-Za-z]+", self.wanted or "") or ["?"])[-1].lower()
        return (
            [re.sub(r"\bX\b", of, said)] if said and word not in (self.given or "").lower() else []
        )

    @property
    def _meant(self) -> list[str]:
        """Of the names that there are the one that what came is most like."""
        options = re.findall(r"['\"`]([A-Za-z_][\w./-]*)['\"`]", self.wanted or "")
        came = re.findall(r"[A-Za-z_][\w./-]*", self.given or "")[-1:]
        near = get_close_matches(came[0], options, 1, 0.7) if came else []
        return [f"{near[0]!r}      # in place of {came[0]!r}"] if near and near != came else []

    @property
    def advised(self) -> tuple[str, ...]:
        """What it says itself that is to be done, or was not."""
        lacks = (f"{self.lacks}=...      # what it misses",) if self.lacks else ()
        return (*lacks, *self._says(urging=True))

    def _says(self, *, urging: bool) -> list[str]:
        """Its own advice: what urges, or what is a guess."""
        urges = wording("grammar urges").match
        return [f"# it says itself: {e}" for e in self.advice if bool(urges(e)) is urging]

    @property
    def _dimensions_more(self) -> int:
        """By how many dimensions more than were wanted came; 0 where that is not said."""
        wanted, given = (
            wording("grammar rank").search(self.wanted or ""),
            wording("grammar shape").search(self.given or ""),
        )
        if re.search(r"\b(?:least|most|more|less|than|or)\b|[<>]", self.wanted or ""):
            return 0  # one of several ranks
        # A scalar may be a Python number, and (1, 2) two of them: that it is a shape must be said.
        if wanted is None or given is None or (wanted["word"] and "shape" not in self.cause):
            return 0
        rank = int(wanted["rank"] or wanted["many"] or _RANKS[wanted["word"] or "scalar"])
        return len([each for each in given["sizes"].split(",") if each.strip()]) - rank


def own_words(message: str) -> OwnWords | None:
    """What a message says itself; None where it says no more than that something failed."""
    said = _bare(message)
    sentences = [
        each for each in wording("grammar sentence").split(said) if not each.startswith("Note ")
    ]
    said = " ".join(sentences)
    if not said:
        return None
    wanted = _search("grammar wanted", said, "wanted")
    given = _search("grammar given", said, "given")
    refused = wording("grammar refused").search(said)
    own = [each.strip() for each in sentences if not re.search(r"\bI\b", each)]  # no user speaks
    advice = tuple(each for each in own if wording("grammar advice").search(each))[:MOST_ADVICE]
    if not (wanted or refused or advice or given) and not wording("grammar reason").search(said):
        return None
    held = wanted["wanted"][:40] if wanted else refused["not"][:40] if refused else None
    at = next((at for at, each in enumerate(sentences) if held and held in each), 0)
    # What follows a colon on lines of its own is what it says.
    if sentences[at].endswith(":") and (behind := range(at + 1, len(sentences))):
        at = next((each for each in behind if sentences[each].startswith("* ")), behind[0])
        wanted = None  # what was wanted stands before the colon, and says less
    first = max(0, at - 1) if wording("grammar opens").match(sentences[at]) else at
    told = " ".join(sentences[first : at + 1])
    lacks = wording("grammar lacks").search(said)
    subject = wanted.groupdict().get("of") if wanted else refused["of"] if refused else None
    verb = wanted.groupdict().get("verb") if wanted else None
    before = "" if verb in {None, "be"} else f"to {verb} "
    does = (
        wanted
        and wanted.groupdict().get("does")
        and not wording("grammar argument").search(subject or "")
    )
    head = subject or told.partition(" ")[0]
    about = None if does else _argument(head, plain=bool(subject))
    came = _clean(given["given"]) if given else None
    if none := None if wanted and given else wording("grammar no_such").search(told):
        name = none["what"].strip(" `")
        about, came = about or (name if name.isidentifier() else None), came or none["given"]
    read = map(wording("grammar assigned").match, (came or "", head.strip()))
    assigned = next(filter(None, read), None)
    if assigned and about in {None, assigned["name"]}:
        about, came = assigned["name"], assigned["value"].strip("`'\" ")
    return OwnWords(
        cause=told.strip(),
        about=about,
        wanted=_clean(f"{before}{wanted['wanted']}") if wanted else None,
        given=came,
        advice=advice,
        lacks=next(filter(None, lacks.groups()), None) if lacks else None,
    )


def _bare(message: str) -> str:
    """The sentence without the exception's name and what stands behind it, on one line."""
    said = "\n".join(
        " ".join(each.split()) for each in wording("grammar paragraph").split(message.strip())
    )
    while head := wording("grammar head").match(said):
        said = said[head.end() :]
    for inner in wording("grammar inner").finditer(said):
        said = said[inner.end() :] if inner.end() < len(said) else said
        break
    rest = wording("grammar rest").search(said)
    said = wording("grammar joined").sub(". ", said[: rest.start()] if rest else said)
    return said[:LONGEST_SAID].strip()


def _search(forms: str, said: str, group: str) -> re.Match[str] | None:
    """The first form that a sentence has, and that says something."""
    for form in wordings(forms):
        for found in form.finditer(said):
            of = found.groupdict().get("of") or ""
            if found[group].strip(" .`'\"") and not (
                wording("grammar within").search(found[group])
                or wording("grammar none_of").search(of)
            ):
                return found
    return None


def _argument(words: str, *, plain: bool = True) -> str | None:
    """The one name of an argument among some words; `plain`: it need not be quoted."""
    words = wording("grammar to_a_call").sub("", wording("grammar condition").sub("", words))
    names = {found["name"] for found in wording("grammar named").finditer(words)}
    if plain and not names and (found := wording("grammar plain_name").search(words.strip())):
        names = {each for each in found.groups() if each}
    return names.pop() if len(names) == 1 else None


def _clean(words: str) -> str:
    """Words without what is left of their brackets and stops."""
    words = words.strip(" .,;:").removesuffix(" instead")
    if re.search(r"\[[^][()]*\)$|\([^][()]*\]$", words):
        return words  # a range that is open at one end
    for left, right in ("()", "[]"):
        if words.count(left) < words.count(right):
            words = words.rstrip(right)
        if words.count(left) > words.count(right):
            words += right
    return words
