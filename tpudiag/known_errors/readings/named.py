"""What an error names, as facts: a form of words for each kind, read once for all cases.

The cases ask for them by name (`when`), and they fill the blanks of causes and fixes.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from .meaning import first_over

Facts = dict[str, tuple[str, ...]]

REACH = 6000
"""Bytes without white space before an error in which its traceback is looked at."""

_QUOTE = r"['\"`]"


class _Form(NamedTuple):
    """How an error names something; its groups are the facts."""

    pattern: re.Pattern[str]
    everywhere: bool = False
    """Whether it may stand anywhere around the match, and more than once."""


_FORMS = tuple(
    _Form(re.compile(pattern), everywhere)
    for pattern, everywhere in (
        # 'NoneType' object has no attribute 'shape'; 'float' object is not iterable
        (
            rf"{_QUOTE}(?P<object>[\w.]{{1,60}}){_QUOTE}object(?:hasnoattribute{_QUOTE}|isnot|cannotbeinterpretedasan)"
            rf"(?P<used>(?<={_QUOTE})\w{{1,60}}(?={_QUOTE})|callable|iterable|subscriptable|aniterator|integer)",
            False,
        ),
        # unsupported operand type(s) for *: 'int' and 'NoneType'
        (
            rf"unsupportedoperandtype\(s\)for(?P<sign>[^:\n]{{1,4}}):{_QUOTE}(?P<left>[\w.]{{1,40}}){_QUOTE}and"
            rf"{_QUOTE}(?P<right>[\w.]{{1,40}}){_QUOTE}",
            False,
        ),
        # step() missing 1 required positional argument: 'labels'
        (
            r"(?P<function>[\w.<>]{1,60})\(\)missing\d{1,2}required(?:positional|keyword-only)?"
            r"arguments?:'(?P<missing>\w{1,60})'",
            False,
        ),
        # step() takes 2 positional arguments but 3 were given
        (
            r"(?P<function>[\w.<>]{1,60})\(\)takes(?:from\d{1,2}to)?(?P<takes>\d{1,2})"
            r"positionalarguments?but(?P<given>\d{1,2})",
            False,
        ),
        (r"Key(?P<key>[\w/.:-]{2,160}?)notfoundincheckpoint", True),
        (
            r"`(?P<argument>\w{1,40})`(?:argument)?(?:must|should|canonly|needsto|cannot|hasto|is|argument|isonly|were|was)",
            True,
        ),
        (
            r"(?:[Aa]rguments?|valuefor|[Pp]arameter|[Ee]xpected)[:'`\"]{1,3}(?P<argument>\w{1,40})[`'\"]",
            True,
        ),
        (r"Received:(?P<argument>\w{1,40})=", True),
        (r"Error:(?P<argument>[a-z_]{1,40})argumentisnotsupported", True),
        (r"withnamedarguments\((?P<argument>labels|logits)=", True),
    )
)
_OF_AUTOGRAPH = re.compile(r"^(?:outer_factory\.<locals>\.inner_factory\.<locals>\.)?tf__")
"""What AutoGraph puts before the name of a function that it converted."""
_RECEIVED = re.compile(
    r"(?:[Rr]eceived|[Gg]ot|found|gave|given|was)(?:instead)?:?(?:\w{1,40}=)?"
    r"(?P<value><class'[\w.]{1,60}'>|\(?-?\d[\w.,)-]{0,24}|None|True|False|['\"`][^'\"`]{1,40}['\"`]|\[[^\]]{0,40}\])"
)


def given(values: dict[str, str], around: str, traceback: str) -> Facts:
    """What the match of a case named itself, and the traceback that leads to it."""
    facts = _facts(values, around)
    if file := values.get("file"):
        facts["file"] = (file.rstrip(";,:"),)
    return facts | {"traceback": (traceback,)}


def named(text: str, begin: int, end: int) -> Iterator[Facts]:
    """What a text without white space names, each time that a form of words is found in it.

    `begin` and `end`: the match that it stands around.
    """
    for form in _FORMS:
        if form.everywhere:
            found = [*form.pattern.finditer(text)]
            found.sort(key=lambda each: each.start() < begin)  # what stands behind comes first
        else:
            over = first_over(form.pattern, text, begin, end)
            found = [over] if over else []
        yield from (_facts(each.groupdict(), text) for each in found)


def _facts(parts: dict[str, str], text: str) -> Facts:
    """The parts of a form of words, and what follows from them."""
    facts: Facts = {name: (value,) for name, value in parts.items()}
    if kind := parts.get("object"):
        facts["object"] = (kind, kind.rsplit(".", 1)[-1])  # numpy.float64, or the last part
    if parts.keys() >= {"left", "right"}:
        facts["operand"] = (parts["left"], parts["right"])
    if function := parts.get("function"):
        facts["function"] = (_OF_AUTOGRAPH.sub("", function),)
        facts["name"] = (facts["function"][0].rsplit(".", 1)[-1],)
    if parts.keys() >= {"takes", "given"}:
        facts["more"] = (str(int(parts["given"]) - int(parts["takes"])),)
    if "argument" in parts:
        got = _RECEIVED.search(text)
        facts["received"] = (f" (it got {got['value'].rstrip('.,')})" if got else "",)
    return facts
