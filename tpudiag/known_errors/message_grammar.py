# ruff: noqa: E501  (the forms of sentences stay in one piece)
"""What an error's own sentence says: of what, what was wanted, what came, what to do instead.

Most errors that a library raises itself are a contract in words (`X must be Y, received Z`): they
are read by their grammar, whatever they are about.
"""

import re
from difflib import get_close_matches

from tpudiag.records import dataclass

from .compiled import names

LONGEST_SAID = 1500
LONGEST_PART = 180
MOST_ADVICE = 3

_END = r"(?=[,;]? (?:but|and|instead|while) (?:got|get|gets|received|found|was|is|its|has|have|were|it|they|you|the|comparing)\b|(?<!\.[eg])[.;](?:\s|$)|,? ?(?:got|Received|received|found):|, (?:got|received|found)\b|,? \(?(?:Received|Got|Found)\b|[)\]]?$)"
_WANTED = (
    rf"\b(?<!not )(?<!n't )[Ee]xpect(?:ed|s|ing)?(?: type| shape| dtype| value| rank| values are| one of| input)?:? (?!to find)(?:to (?:be|have) |an? )?(?P<wanted>.{{2,{LONGEST_PART}}}?){_END}",
    rf"(?P<of>(?:[^.;:]|\.(?=\w)){{1,120}}?) (?:must|should|has to|have to|needs? to) (?:(?:always|either|all|both|only) )*(?P<verb>be|have|match|equal|contain|return|specify|use)\b (?P<wanted>.{{1,{LONGEST_PART}}}?){_END}",
    rf"(?P<of>(?:[^.;:]|\.(?=\w)){{2,120}}?)(?<! not)(?<!n't) (?P<does>requires?|expects|only (?:supports?|accepts?|takes?|works (?:with|for|on))|can only(?: be)?|supports only|accepts only) (?P<wanted>.{{2,{LONGEST_PART}}}?){_END}",
    rf"(?P<of>[^.;:]{{2,120}}?) (?:is|are) only (?:supported|allowed|available|valid|possible|implemented) (?P<wanted>(?:when|in|for|with|on|if|inside|within|outside|as)\b.{{2,{LONGEST_PART}}}?){_END}",
    rf"\b[Oo]nly (?P<wanted>.{{2,{LONGEST_PART}}}?) (?:are|is) (?:currently )?(?:supported|allowed|accepted|valid|possible|permitted)\b",
    rf"\b(?:[Ss]upported|[Vv]alid|[Aa]llowed|[Aa]vailable|[Pp]ossible|[Kk]nown)(?: (?!when|in|for|if|by|on|yet)\w+){{0,3}}?(?: are| is| include|:) (?P<wanted>.{{2,{LONGEST_PART}}}?){_END}",
)
_GIVEN = (
    rf"\b(?:[Rr]eceived|[Gg]ot|(?<!not )[Ff]ound(?! (?:to|that)\b)|[Ee]ncountered|[Ww]as given|[Ww]ere given)(?: an?\b| the\b| instead\b| input\b| inputs\b| invalid\b| value\b| values\b| type\b| shape\b| with\b| array\b| object\b| of\b)*[:=]? ?(?P<given>(?![.,;]).{{1,{LONGEST_PART}}}?)(?=\.(?:\s|$)|;|\)$|,? but (?:wanted|expected)|, (?:expected|but)|\s\(op:|$)",
    rf"\b[Aa]ctual(?: \w+)?: ?(?P<given>.{{1,{LONGEST_PART}}}?)(?=[.;](?:\s|$)|$)",
    rf"\b(?:It|Its \w+) (?:is|was) (?P<given>[^.;]{{1,{LONGEST_PART}}}?)(?=[.;](?:\s|$)|$)",
    rf"\bbut (?:it |the \w+ )?(?:was|is|has|have|were) (?P<given>.{{1,{LONGEST_PART}}}?)(?=[.;](?:\s|$)|$)",
)
_REFUSED = re.compile(
    r"(?P<of>[^.;:]{2,140}?) (?P<not>(?:is|are|was|were) (?:not|in|un)[ -]?(?:yet |currently )?(?:an? )?(?:valid|supported|allowed|compatible|implemented|available|defined|found|known|recognized|accessible|registered|initialized|installed|divisible)[^.;]{0,120}|"
    r"(?:does|do|did)(?: not|n't) (?:support|exist|match|have|contain|accept|take)[^.;]{0,120}|(?:must|should|may|can) not (?!be (?:used|called) (?:with|in)out)[^.;]{2,120}|cannot be [^.;]{2,120}|can not be [^.;]{2,120}|can't be [^.;]{2,120})"
)
_ADVICE = re.compile(
    r"^(?!.*\b(?:file|open|report)\b.{0,40}\b(?:request|issue|bug))(?:Please|Use|Try|Make sure|Ensure|Consider|Did you|Do you|You (?:must|should|need|may|can(?!'t| not)|might|have)"
    r"|Call|Set|Pass|Add|Install|Run|Check|Instead(?!,? (?:got|found|received)\b)|Perhaps|Maybe|Either|If you|If your|In order to|To \w+"
    r"|Switch|Fix|Provide|Specify|Wrap|Build|Initialize|Enable|Disable|Remove|Replace|Upgrade|Update)\b(?! not\b)"
    r"|^(?!.{0,300}\b(?:[Gg]ot|[Rr]eceived|[Ff]ound)\b).{0,300}\binstead\b|\bplease\b(?! (?:file|open|report))|\bwe recommend\b|\bmake sure\b|\btry (?:to|using|setting)\b"
)
_URGES = re.compile(r"(?!Did you|Do you|Perhaps|Maybe|If you|You (?:may|might|can)\b)")
"""How advice begins that is no guess."""
_LACKS = re.compile(
    r"\bwithout (?:an? |the |its |setting |specifying |passing )?[`'\"](?P<a>\w[\w.=]{0,60})[`'\"]"
    r"|[`'\"](?P<b>\w[\w.=]{0,60})[`'\"](?: argument| parameter| option)? (?:is|was|are) (?:missing|required|not (?:set|given|specified|provided|defined)\b)"
    r"|\b(?:must|have to|has to|needs? to|should) (?:specify|provide|set|pass|give|define) (?:an? |the |both |either )?[`'\"]?(?P<c>[a-z]\w*_\w+)\b"
)
"""What an error says that was not given."""
_REASON = re.compile(
    r"\b(?:cannot|can ?not|can't|not|only|already|out of|mismatch\w*|different|missing|no|must|more (?:\w+ )?than|less than|incompatible|exceeds?|attached to a different"
    r"|too (?:many|few|large|small|long)|invalid|unknown|unsupported|duplicate\w*|immutable|empty)\b",
    re.IGNORECASE,
)
"""A word of a sentence that says what is wrong, and not only that something failed."""
_DIVIDED = (
    re.compile(
        r"(?P<whole>\d{1,12})\D{0,80}(?:not|n't) (?:be )?(?:evenly )?(?:divisible|divided) (?:by )?\D{0,60}(?P<part>\d{1,9})"
    ),
    re.compile(
        r"(?P<whole>\d{1,12})\D{0,60}(?:must|should|has to|needs to) be (?:evenly )?(?:divisible by|a multiple of)\D{0,60}(?P<part>\d{1,9})"
    ),
    re.compile(
        r"(?P<part>\d{1,9})\D{0,60}(?:not|n't) (?:evenly )?divide \D{0,60}(?P<whole>\d{1,12})"
    ),
)
"""Of two numbers the one that is cut: `8 is not divisible by 3`, `3 does not divide 8`."""
_OVER = re.compile(r"\b(\d{8,15}) ?(?:bytes )?(?:>|exceeds|vs\.?|out of|but only|of) ?(\d{8,15})\b")
"""Two numbers of bytes that are held against each other."""
_RANKS = {"scalar": 0, "vector": 1, "matrix": 2}
_RANK = re.compile(
    r"\b(?P<word>scalar|vector|matrix)\b|\brank (?P<rank>\d)\b|\b(?P<many>\d)[ -]?(?:D\b|dim)"
)
_SHAPE = re.compile(r"[\[(](?P<sizes>(?:(?:\d{1,9}|None|\?|-1),? ?){0,8})[\])]")
_OPENS = re.compile(
    r"(?:Expected|It|They|Should|Must|Supported|Valid|Allowed|Available|Expecting)\b"
)
"""How a sentence begins that says of what in the one before it."""
_SENTENCE = re.compile(r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.) (?=[A-Z`'\"])|\n")
_JOINED = re.compile(r"\.(?=(?:Received|Got|Found|Expected|Please)\b)")
"""A stop behind which the blank was forgotten."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_HEAD = re.compile(
    r"^(?:\([0-9]\) )?(?:(?:[\w.]{0,80}(?:Error|Exception|Warning)|[A-Z_]{6,24}|Error recorded from \w{3,20}"
    r"|From /job:[\w:/]{3,60}|Compilation failure): ?|Exception encountered: ?['\"]?|XLA:TPU compile permanent error\. |\{\{function_node [^}]{1,300}\}\} ?)"
)
"""What stands before the sentence: the exception's name, and who hands it on."""
_REST = re.compile(
    r"\[\[|\{\{function_node|Original stack|Traceback|Arguments received by|Call arguments received"
    r"|Colocation|Function call stack|\[Op:|Full object config|In call to configurable"
)
_NAMED = re.compile(
    r"(?<!=)[`'\"](?P<name>(?!(?:int|uint|float|bfloat|bool|string)\d*\b)[a-z_]\w{0,60})[`'\"](?! (?:inputs?|outputs?|layers?|ops?|functions?|methods?|calls?|backend)\b)"
)
_PLAIN_NAME = re.compile(
    r"(?:^(?!\w+ (?!argument|parameter|option)\w)|\b(?:[Aa]rgument|[Pp]arameter|[Oo]ption) )(?P<name>[a-z]\w*_\w+)\b(?!\()|^(?P<first>(?!(?:it|this|that|they|these)$)[a-z]{2,30})$"
)
_ASSIGNED = re.compile(r"^[`'\"]?(?P<name>[a-z]\w{1,40}) ?= ?(?P<value>[^,;=]{1,80})$")
"""What came, with its argument's name: `axis=-1`."""
_NEVER = re.compile(r"\b(?:must|should|may|can) ?not .{2,120}")
_NO_SUCH = re.compile(
    r"\b(?:Unknown|Unsupported|Invalid|Unrecognized|Unexpected|Illegal|Undefined) (?P<what>[\w` -]{2,40}?)(?: for [\w` ]{2,40}?)?(?:: ?| [`'\"])(?P<given>[\w.<>'\" /-]{1,80}?)[`'\"]?(?=[.;,]? |[.;]?$)"
)
"""A value that is none of those there are."""
_ARGUMENT = re.compile(r"\b(?:[Aa]rgument|[Pp]arameter|[Oo]ption)\b")
_TO_A_CALL = re.compile(r" (?:argument|parameter|option)s? (?:to|of|for|in|passed to) .*")
"""What comes behind an argument's name is the function that takes it."""
_NONE_OF = re.compile(r"\b(?:[Nn]one of|[Nn]either|[Nn]o)\b")
_CONDITION = re.compile(r"^(?:If|When|Since|Because|Unless|For)\b.*, ")
_WITHIN = re.compile(r"\b(?:got|expected|wanted)\b")
"""A word of what was wanted and came: words with it are both."""
_KIND = (
    r"(?:(?:to be )?(?:an?|the|of|type|instance|object|either|Python|\W?class) |[<`'\"])*(?:\w+\.)*"
)
"""What stands before the type that is wanted."""
_INNER = re.compile(
    r"(?:(?:[Ee]rror|[Ee]xception)s? (?:encountered|was|message)|[Oo]riginal (?:error|exception|message)|[Cc]aused by|(?:because of|with) the following (?:error|exception))[^:\n]{0,60}:\s*(?=\S)"
)
"""Before an error that this one hands on."""


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
        rows = [*self.advised]
        rows += [f"# it says itself: {each}" for each in self.advice if not _URGES.match(each)]
        got = f"; here it is {self.given}" if self.given else ""
        if self.wanted and self.about and self.given:
            rows.append(f"{self.about}=...      # wanted: {self.wanted}{got}")
        elif self.wanted and self.about:
            rows.append(f"print(type({self.about}), {self.about})      # wanted: {self.wanted}")
        elif self.wanted:
            rows.append(f"# wanted: {self.wanted}{got}")
        elif self.about and (never := _NEVER.search(self.cause)):
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
        if over := _OVER.search(self.cause):
            much, most = (int(each) / 1e9 for each in over.groups())
            rows.append(f"# {much:.2f} GB against {most:.2f} GB: {abs(much - most):.2f} GB apart")
        for divided in filter(None, (form.search(self.cause) for form in _DIVIDED)):
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
        return [re.sub(r"\bX\b", of, said)] if said else []

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
        return (
            *lacks,
            *(f"# it says itself: {each}" for each in self.advice if _URGES.match(each)),
        )

    @property
    def _dimensions_more(self) -> int:
        """By how many dimensions more than were wanted came; 0 where that is not said."""
        wanted, given = _RANK.search(self.wanted or ""), _SHAPE.search(self.given or "")
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
    sentences = [each for each in _SENTENCE.split(said) if not each.startswith("Note ")]
    said = " ".join(sentences)
    if not said:
        return None
    wanted = _search(_WANTED, said, "wanted")
    given = _search(_GIVEN, said, "given")
    refused = _REFUSED.search(said)
    own = [each.strip() for each in sentences if not re.search(r"\bI\b", each)]  # no user speaks
    advice = tuple(each for each in own if _ADVICE.search(each))[:MOST_ADVICE]
    if not (wanted or refused or advice or given) and not _REASON.search(said):
        return None
    held = wanted["wanted"][:40] if wanted else refused["not"][:40] if refused else None
    at = next((at for at, each in enumerate(sentences) if held and held in each), 0)
    # What follows a colon on lines of its own is what it says.
    if sentences[at].endswith(":") and (behind := range(at + 1, len(sentences))):
        at = next((each for each in behind if sentences[each].startswith("* ")), behind[0])
        wanted = None  # what was wanted stands before the colon, and says less
    told = " ".join(
        sentences[max(0, at - 1) : at + 1] if _OPENS.match(sentences[at]) else [sentences[at]]
    )
    lacks = _LACKS.search(said)
    subject = wanted.groupdict().get("of") if wanted else refused["of"] if refused else None
    does = wanted and wanted.groupdict().get("does") and not _ARGUMENT.search(subject or "")
    head = subject or told.partition(" ")[0]
    about = None if does else _argument(head, plain=bool(subject))
    came = _clean(given["given"]) if given else None
    if none := None if wanted and given else _NO_SUCH.search(told):
        name = none["what"].strip(" `")
        about, came = about or (name if name.isidentifier() else None), came or none["given"]
    assigned = _ASSIGNED.match(came or "") or _ASSIGNED.match(head.strip())
    if assigned and about in {None, assigned["name"]}:
        about, came = assigned["name"], assigned["value"].strip("`'\" ")
    return OwnWords(
        cause=told.strip(),
        about=about,
        wanted=_clean(f"{_verb(wanted)}{wanted['wanted']}") if wanted else None,
        given=came,
        advice=advice,
        lacks=next(filter(None, lacks.groups()), None) if lacks else None,
    )


def _bare(message: str) -> str:
    """The sentence without the exception's name and what stands behind it, on one line."""
    said = "\n".join(" ".join(each.split()) for each in _PARAGRAPH.split(message.strip()))
    while head := _HEAD.match(said):
        said = said[head.end() :]
    for inner in _INNER.finditer(said):
        said = said[inner.end() :] if inner.end() < len(said) else said
        break
    rest = _REST.search(said)
    said = _JOINED.sub(". ", said[: rest.start()] if rest else said)
    return said[:LONGEST_SAID].strip()


def _search(forms: tuple[str, ...], said: str, group: str) -> re.Match[str] | None:
    """The first form that a sentence has, and that says something."""
    for form in forms:
        for found in re.finditer(form, said):
            of = found.groupdict().get("of") or ""
            if found[group].strip(" .`'\"") and not (
                _WITHIN.search(found[group]) or _NONE_OF.search(of)
            ):
                return found
    return None


def _verb(wanted: re.Match[str]) -> str:
    """The verb in front of what is wanted, where it is more than `be`."""
    verb = wanted.groupdict().get("verb")
    return "" if verb in {None, "be"} else f"to {verb} "


def _argument(words: str, *, plain: bool = True) -> str | None:
    """The one name of an argument among some words; `plain`: it need not be quoted."""
    words = _TO_A_CALL.sub("", _CONDITION.sub("", words))
    names = {found["name"] for found in _NAMED.finditer(words)}
    if plain and not names and (found := _PLAIN_NAME.search(words.strip())):
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
