"""Known errors of a text or of a log of any size, read as it comes."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from tpudiag.errors import UnreadableInput
from tpudiag.known_errors.model import Kind, Match

if TYPE_CHECKING:
    from tpudiag.known_errors.search import Stream
    from tpudiag.known_errors.unknown import UnknownError

SMALL_BYTES = 1 << 20
"""Up to this size a log is read as a text that may be wrapped."""
END_BYTES = 1 << 16
"""The two ends of a log, in which versions and a failure that is not known are looked for."""

HANDLED = "During handling of the above exception, another exception occurred"
"""Between an exception that was caught and the one that was raised in its place."""

HANDED_ON = "Error recorded from"
"""Before an error that an Estimator's thread met, where its words follow at once."""

_PYTHON_SAYS = {
    r"(?:module )?'[\w.]+'(?: object)? has no attribute '": "AttributeError",
    r"cannot import name '": "ImportError",
    r"No module named '": "ModuleNotFoundError",
    r"name '\w+' is not defined": "NameError",
    r"\S+\(\) (?:got an unexpected keyword argument|takes|missing) ": "TypeError",
}
"""Python's own sentences, by which they are raised."""
_RAISE = re.compile(r"raise (?P<name>[\w.]+)\(\s*[frb]{0,2}(['\"]+)(?P<said>[^\n]*?)\2,?\s*\)?")
Scan: TypeAlias = "Callable[[Stream], Sequence[Match]]"
"""Reads an open log from its start to its end."""


def in_text(text: str) -> list[Match | UnknownError]:
    """The known errors in a text, before them the failure that is none of them."""
    from tpudiag.known_errors import search

    for within in (False, True):  # who tells of an error in other words leaves its name out
        named = _with_its_name(text, within=within)
        if found := _with_unknown(search.match(named), named):
            return found
    return []


def _with_its_name(text: str, *, within: bool = False) -> str:
    """A text; with the exception's name before the sentence of Python's that it begins with.

    `within`: or that stands anywhere in it.
    """
    if raised := _RAISE.fullmatch(text.strip()):  # who asks of nothing else asks what it raises
        return f"{raised['name']}: {raised['said']}"
    for says, name in _PYTHON_SAYS.items():
        found = re.search(rf"(?<!\S)(?:{says})", text)
        if found and (within or not text[: found.start()].strip()):
            module = "module " if re.match(r"'\w+\.[\w.]+' has", found[0]) else ""
            return f"{text[: found.start()]}{name}: {module}{text[found.start() :]}"
    return text


def in_log(name: str, scan: Scan | None = None) -> list[Match | UnknownError]:
    """The known errors in a file, or in standard input for `-`; raises UnreadableInput.

    `scan` reads what has more than a megabyte, where the caller shows how far it is.
    """
    try:
        if name == "-":
            with open(0, "rb", closefd=False) as piped:
                return in_pipe(piped, scan)
        with open(name, "rb") as stream:  # noqa: PTH123
            kind = os.fstat(stream.fileno()).st_mode
            if stat.S_ISCHR(kind) and not stream.isatty():
                raise UnreadableInput(f"{name}: a device, which has no end; name a file or a pipe")
            return in_pipe(stream, scan, known_size=stat.S_ISREG(kind))
    except OSError as error:
        raise UnreadableInput(f"{name}: {error.strerror or error}") from error


class _Ends:
    """A stream that is read once, from a beginning that was read already; keeps its two ends."""

    def __init__(self, beginning: bytes, stream: BinaryIO, *, known_size: bool) -> None:
        self._beginning, self._rest = BytesIO(beginning), stream
        self._first, self._last = beginning[:END_BYTES], b""
        if known_size:
            self.fileno = stream.fileno

    def read(self, size: int) -> bytes:
        """The next bytes; empty at the end."""
        block = self._beginning.read(size) or self._rest.read(size)
        self._last = (self._last + block[-END_BYTES:])[-END_BYTES:]
        return block

    @property
    def text(self) -> str:
        """Both ends of what was read."""
        return (self._first + self._last).decode(errors="replace")


def in_pipe(
    piped: BinaryIO, scan: Scan | None = None, *, known_size: bool = False
) -> list[Match | UnknownError]:
    """What a stream says: a pipe cannot be read twice, so its ends are kept while it is searched.

    `known_size`: it is a file, of which is known how far it is read.
    """
    from tpudiag.known_errors import search

    # One byte more than is small tells whether there is more, without waiting for the end.
    beginning = piped.read(SMALL_BYTES + 1)
    if len(beginning) <= SMALL_BYTES:
        return in_text(beginning.decode(errors="replace"))
    ends = _Ends(beginning, piped, known_size=known_size)
    return _with_unknown((scan or search.scan)(ends), ends.text, whole=False)


def is_answered(answers: Sequence[Match | UnknownError]) -> bool:
    """Whether something was found, and no failure among it that is not known."""
    return bool(answers) and all(isinstance(each, Match) for each in answers)


def nothing_in(where: str, text: str = "") -> str:
    """That nothing known was found, and what the text is nearest to."""
    from tpudiag.known_errors.catalogue import known_errors
    from tpudiag.known_errors.unknown import nearest, unknown

    line = f"none of the {len(known_errors())} known errors is in {where}"
    near = () if unknown(text) else nearest(text)  # a failure's answer names them itself
    held = ", ".join(f"{error.id} {error.family}" for error in near)
    return line + (f"; its words stand in {held}: `tpudiag explain ID`" if held else "")


def _failure(text: str, *, unnamed: bool = True, remarked: int = 0) -> UnknownError | None:
    """The failure that is not known; what looks for it is dear, and most texts are known."""
    from tpudiag.known_errors.unknown import unknown

    return unknown(text, unnamed=unnamed, remarked=remarked)


def _with_unknown(
    matches: Sequence[Match], text: str, *, whole: bool = True
) -> list[Match | UnknownError]:
    """What was found, for the job that the text names; before mere remarks, its failure.

    A text that is not `whole` holds the two ends of a log: lines are not counted in it.
    """
    from tpudiag.known_errors.circumstances import of_job
    from tpudiag.known_errors.doubt import is_doubtful
    from tpudiag.known_errors.ranking import last_raised_first, only_warned_of
    from tpudiag.known_errors.search import match

    matches = of_job(matches, text, whole=whole)
    warned = only_warned_of(matches, text) if whole else ()
    matches = sorted(matches, key=warned.__contains__)  # behind what was raised later
    if whole and (handled := text.rfind(HANDLED)) >= 0:
        matches = last_raised_first(matches, text.count("\n", 0, handled) + 1)
        if matches and matches[0].secondary:
            failure = _failure(text[handled + len(HANDLED) :])
            return [failure, *matches] if failure else [*matches]
    if any(is_doubtful(each, *each.within(text, whole)) for each in matches[:1]):
        matches = [each for each in matches if not is_doubtful(each, *each.within(text, whole))]
        left = (each for each in matches if each.error.level == "error" and each not in warned)
        if all(each.secondary for each in left) and (failure := _failure(text)):
            return [failure, *matches]
    said = [each for each in matches if each.error.level == "error" and each not in warned]
    if any(each.error.kind is not Kind.CONSEQUENCE for each in said):
        return [*matches]
    # Beside a mere remark, a sentence without an exception's name is that remark.
    remarked = max((each.last_line for each in matches), default=0) if whole else 0
    failure = _failure(text, unnamed=not matches, remarked=remarked)
    # What is told followed from another failure: only the one that it hands on is looked for.
    if failure is None or (said and HANDED_ON not in failure.text):
        return [*matches]
    told = [each.error for each in said]
    others = [each for each in match(failure.text) if each.error not in told]
    known = any(_is_answer(each, failure.text) for each in others)
    return [*matches] if known else [failure, *matches]


def _is_answer(hit: Match, failure: str) -> bool:
    """Whether a match says what a failure is: noise does where the failure is nothing else."""
    if hit.error.noise:
        return hit.excerpt.strip() == failure.strip()
    if hit.error.level != "info":
        return True
    from tpudiag.known_errors.search import match

    # A remark that is about an exception says so in its own text: it is about the last one.
    last = match(failure.rpartition(" | ")[2])
    return "Error:" in hit.error.example and any(each.error is hit.error for each in last)
