"""What a job's output says at which level: what was raised or logged, apart from what was printed.

Settings, summaries and progress name errors that nobody had; a record of level ERROR and an
exception that nobody caught do not.
"""

import re
from collections.abc import Iterator
from enum import IntEnum

LONGEST_MESSAGE = 40
"""Lines of one record or exception that are read."""
TRACEBACK = "Traceback (most recent call last):"
NEAR_BEGINNING = 160
"""Characters of a line in which a record has its level."""
_COLOURS = re.compile(r"\x1b\[[\d;]*m")
_RECORD = re.compile(
    # TensorFlow's and XLA's C++, behind a date; glog's and absl's own form
    r"(?:\d{4}-\d\d-\d\d[T ][\d:.,]+:? )?(?P<tensorflow>[IWEF]) \S+:\d+\]"
    r"|(?P<glog>[IWEF])\d{4}(?:\d{4})? [\d:.]+ "
    r"|[^\s:]+:\d+: (?P<warnings>\w*Warning): "
    r"|\{.*\"(?:level|levelname|severity)\": ?\"(?P<json>\w{4,8})\""
)
_LEVEL = re.compile(
    r"(?<![\w'\"=/])(?P<word>DEBUG|INFO|WARNING|WARN|ERROR|CRITICAL|FATAL)(?![\w'\"=/])"
    r"|\[(?P<lower>debug|info|warning|error|critical) *\]"
)
"""Of logging's formats: behind a time and at most two names."""
_NAME = re.compile(r"[A-Za-z][\w.]*")
_EXCEPTION = re.compile(r"(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception): ")
"""The last line of a traceback, whose beginning may be cut off or was not printed."""
_UNCAUGHT = re.compile(r"Exception in thread |Process \S+:$|Unhandled exception|Uncaught exception")
_CHAINED = re.compile(r"During handling of the above|The above exception was the direct cause")


class Level(IntEnum):
    """How a piece of output was logged."""

    CAUGHT = 0
    """An exception that the program printed, and went on after."""
    WARNING = 1
    ERROR = 2
    """A record of that level or above, or an exception that ended a thread or a process."""


def said(output: str) -> Iterator[tuple[Level, str]]:
    """The warnings, errors and exceptions in a job's output, as they follow each other.

    Each with the lines that belong to it.
    """
    lines = _COLOURS.sub("", output).splitlines()
    place = 0
    while place < len(lines):
        level = _level(lines, place)
        # Of a record of level INFO, too, the lines that belong to it are passed over.
        is_record = level is not None or bool(_level_name(lines[place]))
        end = _end(lines, place) if is_record else place + 1
        if level is not None:
            yield level, "\n".join(lines[place:end])
        place = end


APART = "\n" * 6
"""Between two records: what stands in one is not read as what wraps the other."""


def at(level: Level, output: str) -> str:
    """What a job's output says at just that level, a text of records with empty lines between."""
    return APART.join(text for own, text in said(output) if own is level)


def _level(lines: list[str], place: int) -> Level | None:
    """The level of what begins at a line; None for ordinary output."""
    line = lines[place]
    if line.startswith(TRACEBACK) or _EXCEPTION.match(line):
        return Level.CAUGHT
    if _UNCAUGHT.match(line) and _is_traceback(lines, place + 1):
        return Level.ERROR
    name = _level_name(line)
    if name.endswith("Warning") or name.upper() in ("W", "WARN", "WARNING"):
        return Level.WARNING
    return Level.ERROR if name.upper() in ("E", "F", "ERROR", "CRITICAL", "FATAL") else None


def _level_name(line: str) -> str:
    """The level of a record as it is written there; empty of what is no record."""
    beginning = line[:NEAR_BEGINNING]
    record = _RECORD.match(beginning) or _LEVEL.search(beginning)
    if record is None:
        return ""
    named_before = len(_NAME.findall(beginning[: record.start()]))
    return next(text for text in record.groups() if text) if named_before <= 2 else ""


def _end(lines: list[str], place: int) -> int:
    """Where what begins at a line is over: behind its indented lines and its traceback."""
    last = min(len(lines), place + LONGEST_MESSAGE)
    end = place if lines[place].startswith(TRACEBACK) else place + 1
    while end < last and lines[end][:1].isspace() and lines[end].strip():
        end += 1
    while _is_traceback(lines, end):
        end = _behind_traceback(lines, end)
    return end


def _behind_traceback(lines: list[str], place: int) -> int:
    """Where a traceback is over: behind the message of its exception, and before the one that it
    led to, unless a sentence joins them."""
    place += 1
    while place < len(lines) and (lines[place][:1].isspace() or not lines[place]):
        place += 1
    last = min(len(lines), place + LONGEST_MESSAGE)
    while place < last and lines[place].strip() and not _level_name(lines[place]):
        place += 1
    joined = next((n for n in range(place, len(lines)) if lines[n].strip()), place)
    if joined < len(lines) and _CHAINED.match(lines[joined]):
        return next((n for n in range(joined + 1, len(lines)) if lines[n].strip()), joined + 1)
    return place


def _is_traceback(lines: list[str], place: int) -> bool:
    return place < len(lines) and lines[place].startswith(TRACEBACK)
