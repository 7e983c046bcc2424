"""Texts that are stood in for: lines of words, with whatever parts they are taken apart into."""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false, reportUnknownLambdaType=false
from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from .holes import taken_apart
from .text_files import WORDS

LINES = 8192
"""Lines of a file: scripts put some aside, and train on slices of the others."""
_KEPT = ("strip", "lstrip", "rstrip", "lower", "upper", "title", "replace", "removesuffix", "zfill")
"""Methods whose result is as open as the text."""


class OpenText(str):
    """A text that was not there; as a number it is one."""

    __slots__ = ()

    def __float__(self) -> float:
        return float(len(self) % 7)

    def __int__(self) -> int:
        return len(self) % 7

    def __getitem__(self, key: Any) -> OpenText:
        return OpenText(str.__getitem__(self, key))

    def split(self, sep: Any = None, maxsplit: Any = -1) -> list[str]:
        """Its words, or as many parts as are asked for."""
        parts: list[str] = [OpenText(part) for part in str.split(self, sep, maxsplit)]
        return parts if sep is not None and sep.isspace() and "\n" in sep else Parts(parts)

    def rsplit(self, sep: Any = None, maxsplit: Any = -1) -> list[str]:
        """As many parts as are asked for."""
        return self.split(sep, maxsplit)

    def partition(self, sep: str) -> tuple[str, str, str]:
        """Two parts of it."""
        first, second = Parts(self.split(sep))[:2]
        return first, sep, second

    def splitlines(self, keepends: Any = False) -> list[str]:
        """Its lines."""
        return [OpenText(line) for line in str.splitlines(self, keepends)]


def _kept(name: str) -> Any:
    plain = getattr(str, name)

    def call(self: str, *args: Any) -> OpenText:
        return OpenText(plain(self, *args))

    return call


for _name in _KEPT:
    setattr(OpenText, _name, _kept(_name))


class Parts(list[str]):
    """Parts of a text: one that is asked for and is not there is the text's words once more."""

    def __getitem__(self, key: Any) -> Any:
        last = key.stop if isinstance(key, slice) else key
        self._have(last + (0 if isinstance(key, slice) else 1) if isinstance(last, int) else 0)
        return list.__getitem__(self, key)

    def __iter__(self) -> Iterator[str]:
        self._have(taken_apart())
        return list.__iter__(self)

    def _have(self, count: int) -> None:
        """Be no shorter than so many parts."""
        while len(self) < count:
            self.append(OpenText(WORDS))


class OpenFile(io.StringIO):
    """A file of such a text."""

    def __init__(self, name: str) -> None:
        words = WORDS.split()
        turned = [" ".join(words[at:] + words[:at]) for at in range(len(words))]
        io.StringIO.__init__(self, "".join(turned[n % len(turned)] + "\n" for n in range(LINES)))
        self.name = name

    def read(self, size: Any = -1) -> OpenText:
        """What follows."""
        return OpenText(io.StringIO.read(self, size))

    def readline(self, size: Any = -1) -> OpenText:  # type: ignore[override]
        """The next line."""
        return OpenText(io.StringIO.readline(self, size))

    def readlines(self, hint: Any = -1) -> list[str]:  # type: ignore[override]
        """All lines that follow."""
        return [OpenText(line) for line in io.StringIO.readlines(self, hint)]

    def __next__(self) -> OpenText:  # type: ignore[override]
        return OpenText(io.StringIO.__next__(self))
