"""The one way out for text: whatever is printed goes through here, and does nothing to a terminal.

`tests/test_printing.py` holds that nothing else prints.
"""

import contextlib
import io
import json
import re
import sys
from typing import Any, TextIO, cast

from tpudiag.sanitized import harmless, one_line, redacted

BOLD, PLAIN = "\x1b[1m", "\x1b[0m"
_OWN = re.compile(r"(\x1b\[[01]m)")


def say(text: str) -> None:
    """One line of ours on stderr, which may be gone."""
    with contextlib.suppress(OSError, ValueError):
        print(f"tpudiag: {one_line(text)}", file=sys.stderr, flush=True)


def say_whole(text: str) -> None:
    """Text of several lines on stderr, such as a traceback, which may be gone."""
    with contextlib.suppress(OSError, ValueError):
        print(harmless(text).rstrip("\n"), file=sys.stderr, flush=True)


def put(text: str) -> None:
    """Lines on stdout; what its encoding lacks is escaped."""
    _escaping().write(harmless(text) + "\n")


def put_emphasised(text: str) -> None:
    """Lines on stdout in which words may be BOLD and PLAIN again, and nothing else."""
    clean = (part if part in (BOLD, PLAIN) else harmless(part) for part in _OWN.split(text))
    _escaping().write("".join([*clean, "\n"]))


def put_data(document: object) -> None:
    """A document on stdout as JSON, in which all but ASCII is escaped."""
    put_text(json_text(document) + "\n")


def json_text(document: object) -> str:
    """A document as JSON text that harmless() leaves as it is."""
    return redacted(json.dumps(document, indent=2)).replace("\x7f", "\\u007f")


def put_text(text: str, people: bool = False) -> None:
    """What was made by a renderer, which cleans and styles its own words.

    For people in the terminal's encoding, what that lacks escaped; else in UTF-8.
    """
    stream: TextIO = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(
            encoding=None if people else "utf-8", errors="backslashreplace" if people else None
        )
    stream.write(text)


def _escaping() -> TextIO:
    stream: Any = sys.stdout
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")
    return cast("TextIO", sys.stdout)
