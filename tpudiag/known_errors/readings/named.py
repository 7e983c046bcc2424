"""What an error names, as facts: a form of words for each kind, read once for all cases.

The cases ask for them by name (`when`), and they fill the blanks of causes and fixes.
"""

from collections.abc import Iterator

from tpudiag.known_errors.compiled import wording, wordings

from .meaning import first_over

Facts = dict[str, tuple[str, ...]]

REACH = 6000
"""Bytes without white space before an error in which its traceback is looked at."""


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
    for form in wordings("named at_match"):
        if over := first_over(form, text, begin, end):
            yield _facts(over.groupdict(), text)
    for form in wordings("named around"):
        # What stands behind comes first.
        for found in sorted(form.finditer(text), key=lambda each: each.start() < begin):
            yield _facts(found.groupdict(), text)


def _facts(parts: dict[str, str], text: str) -> Facts:
    """The parts of a form of words, and what follows from them."""
    facts: Facts = {name: (value,) for name, value in parts.items()}
    if kind := parts.get("object"):
        facts["object"] = (kind, kind.rsplit(".", 1)[-1])  # numpy.float64, or the last part
    if parts.keys() >= {"left", "right"}:
        facts["operand"] = (parts["left"], parts["right"])
    if function := parts.get("function"):
        facts["function"] = (wording("named of_autograph").sub("", function),)
        facts["name"] = (facts["function"][0].rsplit(".", 1)[-1],)
    if parts.keys() >= {"takes", "given"}:
        facts["more"] = (str(int(parts["given"]) - int(parts["takes"])),)
    if parts.keys() >= {"built", "here"} and parts["built"] != parts["here"]:
        is_older = int(parts["here"], 16) < int(parts["built"], 16)  # decimals keep their order
        facts["age"] = ("older" if is_older else "newer",)
    if "argument" in parts:
        got = wording("named received").search(text)
        facts["received"] = (f" (it got {got['value'].rstrip('.,')})" if got else "",)
    return facts
