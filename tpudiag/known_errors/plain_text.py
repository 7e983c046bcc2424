"""Texts as they come (coloured, framed, escaped in JSON or HTML) made plain, piece by piece."""

import re
from collections.abc import Iterator, Sequence
from typing import Literal

ROW_SPACE = b" \t\r\x0b\x0c\x00"
WHITE_SPACE = ROW_SPACE + b"\n"

ToldBy = Literal["words", "frame"]
"""What an error is recognised by: its own words, or a frame of its traceback alone."""

_ANSI = re.compile(
    rb"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,1024}(?:\x07|\x1b\\)|[@-Z\\-_])"
)
_ESCAPE = re.compile(rb"\\(?:[ntr\"'/\\]|u00([2-7][0-9a-fA-F]))")
_ESCAPED = {b"n": b" ", b"t": b" ", b"r": b" "}
_ENTITIES = {b"&nbsp;": b" "} | dict(
    zip(b"&lt; &gt; &quot; &#39; &#x27; &amp;".split(), b"< > \" ' ' &".split(), strict=True)
)
_ENTITY = re.compile(b"|".join(_ENTITIES))
_WINDOWS = re.compile(rb"(?<![\w])(?:[A-Za-z]:|~|\.{1,2})\\[^\"'\n<>|*?:]{1,300}\.py\b")
"""Paths of Windows: \\t in them is no tabulator."""
_PYTEST = re.compile(rb"^E {3,12}", re.MULTILINE)
"""Before each line of an error that pytest shows."""
_HARD_BLANK = b"\xc2\xa0"
# By its first byte alone, which a search skips to: a choice at the beginning is ten times as slow.
_TYPE = re.compile(b"\xe2(?:\x80[\x98\x99\x9c\x9d\xa6]|[\x94\x95][\x80-\xbf])")
_TYPOGRAPHY = {
    b"\xe2\x80\x98": b"'",
    b"\xe2\x80\x99": b"'",
    b"\xe2\x80\x9c": b'"',
    b"\xe2\x80\x9d": b'"',
    b"\xe2\x80\xa6": b"...",
}
"""Frames of tables, which are of the same block of Unicode, become blanks."""
_PREFIX = re.compile(
    rb"[ \t>|]*(?:(?:\[(?!\[)[^\]\n]{1,60}\]|\([^)\n]{3,60}\)|\d{4}-\d\d-\d\d[T ][\d:.,+Z-]{5,24}"
    rb"|\d\d:\d\d:\d\d[\d.,]{0,8}|[IWE]\d{4} [\d:.]{8,30} +\d{1,9}|[\w.-]{1,40}\[\d{1,9}\]:"
    rb"|[\w.-]{0,30}(?:worker|host|task|replica|rank|pod|node|stderr|stdout)[\w.-]{0,30}[:|]?"
    rb")[ \t:|-]*)+",
    re.IGNORECASE,
)
_ARROW_MARK = re.compile(rb"-{2,6}> ?\d")
_ARROW_END = re.compile(rb"-> ?\d")
_ARROW = re.compile(rb"[ \t>|]{0,12}-{1,6}> ?(\d{1,6})[ \t][ \t]*(raise\b)?")
_NUMBERED = re.compile(rb"[ \t>|]{0,12}(\d{1,6})(?=[ \t\r]|$)")
_TRACED = re.compile(rb"\.py\b|<ipython-input|Cell In|Input In|Traceback|<stdin>|--> ?\d")
_RAISE = re.compile(
    rb"^[ \t>|]*raise [\w.]{1,80}\("
    rb"(?:[^()\n]|\([^()\n]{0,300}\)|\n[ \t>|]*(?=[\"'fr)])){0,1000}\)?[^\n]*",
    re.MULTILINE,
)
WIDEST_GAP = 5
"""Numbers that the lines shown of a source may leave out."""
FEWEST_PREFIXED = 2
SHARE_PREFIXED = 0.8
HEAD = 50
"""Lines that are looked at first."""
ESCAPES_WITHIN = 2
"""A JSON log may hold a message that was escaped before."""

_FILE = re.compile(rb'[ \t>|]*File "[^"\n]{1,300}", line \d')
_HEAD = re.compile(
    rb"[ \t>|]*(?:\[?[~/][\w./~-]{0,300}\.py\S{0,80} in \w|File [~/\w][^\n:]{1,300}:\d+, in "
    rb"|<ipython-input|(?:Cell In|Input In) ?\[)"
)
_ARROW_LINE = re.compile(rb"[ \t>|]{0,12}-{1,6}> ?\d{1,6}[ \t]")
_RAISED = re.compile(rb"\s*[\w.]{0,80}(?:Error|Exception|Warning)\b")


def plain(text: bytes) -> bytes:
    """Without terminal colours, cursor movements, frames and escapes; line ends stay."""
    if b"\x1b" in text:
        text = _ANSI.sub(b"", text)
    if not text.isascii():
        text = _TYPE.sub(lambda one: _TYPOGRAPHY.get(one[0], b" "), text)
        text = text.replace(_HARD_BLANK, b" ")
    if b"\nE   " in text:
        text = _PYTEST.sub(b"", text)
    if b"\\" in text:
        text = _WINDOWS.sub(lambda one: one[0].replace(b"\\", b"/"), text)
        for _ in range(ESCAPES_WITHIN):
            # Line ends become blanks, so that line numbers hold.
            text = _ESCAPE.sub(
                lambda one: (
                    bytes([int(one[1], 16)]) if one[1] else _ESCAPED.get(one[0][1:], one[0][1:])
                ),
                text,
            )
    return _ENTITY.sub(lambda one: _ENTITIES[one[0]], text) if b"&" in text else text


def without_prefixes(text: bytes) -> bytes:
    """Without what a logger writes before each line, where it does so before nearly each."""
    lines = text.split(b"\n")
    head = lines[:HEAD]
    # The first lines tell mostly: a log of a million lines is not matched line by line for nothing.
    if sum(bool(_PREFIX.match(line)) for line in head) * 2 < len(head):
        return text
    prefixes = [_PREFIX.match(line) for line in lines]
    prefixed = [bool(prefix) for line, prefix in zip(lines, prefixes, strict=True) if line.strip()]
    if sum(prefixed) < max(FEWEST_PREFIXED, SHARE_PREFIXED * len(prefixed)):
        return text
    return b"\n".join(
        line[prefix.end() :] if prefix else line
        for line, prefix in zip(lines, prefixes, strict=True)
    )


def without_source_around(text: bytes) -> bytes:
    """Without the lines of source that IPython shows around the ones that ran; line ends stay.

    They hold errors that were not raised: the next `raise` of the same file, its comments. What
    stands behind an arrow ran, and so did what follows it where it raises.
    """
    if b"-->" not in text or not _ARROW_MARK.search(text):
        return text
    lines = text.split(b"\n")
    for at in _rows(_ARROW_END, text):
        if not (arrow := _ARROW.match(lines[at])):
            continue
        number = int(arrow[1])
        for step in (-1,) if arrow[2] else (-1, 1):
            _blank_around(lines, at, number, step)
    return b"\n".join(lines)


def without_raise_statements(text: bytes) -> bytes:
    """Without the `raise` statements of source that is shown by itself; line ends stay.

    In a traceback they stand under the frame that ran them; in source they raised nothing.
    """
    if b"raise " not in text or _TRACED.search(text):
        return text
    return _RAISE.sub(lambda one: b"\n" * one[0].count(b"\n"), text)


def _rows(pattern: re.Pattern[bytes], text: bytes) -> Iterator[int]:
    """The rows of a text in which a pattern is found, the first is 0."""
    row = end = 0
    # Lines are counted from one to the next: none of a large text is looked at by itself.
    for found in pattern.finditer(text):
        row += text.count(b"\n", end, found.start())
        end = found.start()
        yield row


def _blank_around(lines: list[bytes], at: int, number: int, step: int) -> None:
    """Empty the numbered lines before (-1) or behind (1) the one at an arrow."""
    while 0 <= (at := at + step) < len(lines):
        numbered = _NUMBERED.match(lines[at])
        if numbered is None or not 0 < (int(numbered[1]) - number) * step <= WIDEST_GAP:
            return
        number = int(numbered[1])
        lines[at] = b""


def all_frames(rows: Sequence[bytes], first: int, last: int) -> bool:
    """Whether each of some rows belongs to a frame: where it stands, and its source."""
    for at in (each for each in range(first, last + 1) if rows[each].strip()):
        row, behind = rows[at], at > 0 and _FILE.match(rows[at - 1])
        source = behind and row[:1] in b" \t>|" and not _RAISED.match(row)
        if not (source or _FILE.match(row) or _HEAD.match(row) or _ARROW_LINE.match(row)):
            return False
    return True


def squeezed(text: bytes) -> bytes:
    """Without any white space: neither wrapping nor indentation hides an error."""
    # Trackers, terminals and Kubernetes wrap lines in the midst of words: only without blanks is a
    # sentence the same.
    return text.translate(None, WHITE_SPACE)
