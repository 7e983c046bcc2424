"""One grammar for times on the command line: 10, 10s, 500ms, 2m, 1h."""

import argparse
import math
import re
from collections.abc import Callable

_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|sec|m|min|h)?")
_SECONDS = {"ms": 1e-3, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, None: 1.0}


def duration(
    least_s: float = 0.0, most_s: float = math.inf, *, zero: bool = False, why: str = ""
) -> Callable[[str], float]:
    """A parser of times in seconds, above `least_s` (or 0 where that means never) up to `most_s`.

    argparse names the option before what the parser says of a text that it refuses.
    """

    def seconds(text: str) -> float:
        match = _DURATION.fullmatch(text.strip().lower())
        if match is None:
            raise argparse.ArgumentTypeError(f"{text}: not a time such as 2s, 500ms, 10 or 2m")
        value = float(match[1]) * _SECONDS[match[2]]
        if value == 0 and zero:
            return value
        if value <= 0 or value < least_s:
            raise argparse.ArgumentTypeError(
                f"{text}: not a time such as 2s: must be {_bound(least_s, 'at least')}"
            )
        if value > most_s:
            raise argparse.ArgumentTypeError(
                f"{text}: {_bound(most_s, 'at most')}{why}; not a time such as 2s"
            )
        return value

    return seconds


def _bound(seconds: float, word: str) -> str:
    """`at least 10 s`, `above 0`."""
    return f"{word} {seconds:g} s" if seconds else "above 0"
