"""The last output of a process that ended without a visible exception."""

import re

LONGEST = 300
_OF_LIBRARIES = re.compile(
    r"[IWE]\d{4}|\d{4}-\d\d-\d\d .{0,30}: [IWE] |WARNING: All log messages|To enable the following"
)
"""The start of glog's, absl's and TensorFlow's lines that do not report the end."""
_FATAL = re.compile(r"F\d{4}|.*\bF\b.*\]|.*Error")
"""glog and absl begin a fatal line with F; the stack behind it is less telling."""
_OF_ARGUMENTS = re.compile(
    r"error: the following arguments are required|error: unrecognized arguments|"
    r"error: (?:argument|one of the arguments) |Flags parsing error|Missing (?:option|argument)|"
    r"[Ff]lag --\w+ must"
)
"""argparse, absl and click."""
ARGUMENTS = "the script's own arguments stand behind `--`"


def most_telling(tail: str) -> str | None:
    """The most telling of the last lines; None of a process that ended silently."""
    lines = [line.strip() for line in tail.splitlines() if line.strip()]
    own = [line for line in lines if not _OF_LIBRARIES.match(line)]
    fatal = [line for line in lines if _FATAL.match(line)]
    usage = [line for line in own if _OF_ARGUMENTS.search(line)]
    telling = usage or fatal or own
    return telling[-1][:LONGEST] if telling else None


def of_exit(tail: str, exit_code: int | None) -> str:
    """How a job ended with its own exit code, and its reason as far as printed."""
    said = most_telling(tail)
    if said is None:
        return f"exit code {exit_code}"
    hint = f" ({ARGUMENTS})" if _OF_ARGUMENTS.search(said) else ""
    return f"exit code {exit_code}, its last words: {said}{hint}"
