"""What a process said last, where it ended without an exception that could be seen."""

from __future__ import annotations

import re

LONGEST = 300
_OF_LIBRARIES = re.compile(
    r"[IWE]\d{4}|\d{4}-\d\d-\d\d .{0,30}: [IWE] |WARNING: All log messages|To enable the following"
)
"""How glog, absl and TensorFlow begin a line that tells of no end."""
_FATAL = re.compile(r"F\d{4}|.*\bF\b.*\]|.*Error")
"""glog and absl begin a fatal line with F; the stack behind it says less."""
_OF_ARGUMENTS = re.compile(
    r"error: the following arguments are required|error: unrecognized arguments|"
    r"error: (?:argument|one of the arguments) |Flags parsing error|Missing (?:option|argument)|"
    r"[Ff]lag --\w+ must",
)
"""argparse, absl and click."""
ARGUMENTS = "the script's own arguments stand behind `--`"


def most_telling(tail: str) -> str | None:
    """The most telling of the last lines; None of a process that ended without a word."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    own = [line for line in lines if not _OF_LIBRARIES.match(line)]
    fatal = [line for line in lines if _FATAL.match(line)]
    asked = [line for line in own if _OF_ARGUMENTS.search(line)]
    telling = asked or fatal or own
    return telling[-1][:LONGEST] if telling else None


def of_exit(tail: str, exit_code: int | None) -> str:
    """How a job ended that left by an exit code of its own, and why as far as it said so."""
    said = most_telling(tail)
    if said is None:
        return f"exit code {exit_code}"
    hint = f" ({ARGUMENTS})" if _OF_ARGUMENTS.search(said) else ""
    return f"exit code {exit_code}, its last words: {said}{hint}"
