"""Words into lines: long paths break after a slash, and nothing is lost."""

import re
from collections.abc import Iterator

_JOINTS = re.compile(r"[^/,;=&?|]*[/,;=&?|]+|[^/,;=&?|]+")


def wrap(text: str, width: int) -> Iterator[str]:
    """Lines of at most `width` characters; newlines of the text stay."""
    for paragraph in text.split("\n"):
        yield from _paragraph(paragraph.split(), max(width, 1))


def _paragraph(words: list[str], width: int) -> Iterator[str]:
    """One paragraph; a word longer than a line is parted."""
    held = ""
    for word in words:
        if held and len(held) + 1 + len(word) <= width:
            held = f"{held} {word}"
            continue
        if held:
            yield held
        *full, held = _parts(word, width)
        yield from full
    yield held


def _parts(word: str, width: int) -> list[str]:
    """A word in pieces that fit, after a slash or the like where there is one."""
    if len(word) <= width:
        return [word]
    pieces = [""]
    for joint in _JOINTS.findall(word):
        rest: str = joint
        if pieces[-1] and len(pieces[-1]) + len(rest) > width:
            pieces.append("")
        while len(pieces[-1]) + len(rest) > width:
            pieces[-1], rest = rest[:width], rest[width:]
            pieces.append("")
        pieces[-1] += rest
    return [piece for piece in pieces if piece] or [""]


def cut(text: str, width: int) -> str:
    """The text, its end left out where it is too long: for prose."""
    if len(text) <= width:
        return text
    return text[:width] if width <= 3 else f"{text[: width - 3].rstrip(' ,;:')}..."


def clip(text: str, width: int) -> str:
    """The text, its middle left out where it is too long."""
    if len(text) <= width:
        return text
    if width <= 3:
        return text[:width]
    head = (width - 3 + 1) // 2
    tail = width - 3 - head
    return f"{text[:head]}...{text[len(text) - tail :]}"
