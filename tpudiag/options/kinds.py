"""The kinds of values on the command line, each with what it refuses."""

import argparse
import math
import re
from collections.abc import Callable
from pathlib import Path

from tpudiag.bounded_numbers import whole
from tpudiag.options.option import Kind

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


LARGEST_BATCH = 1 << 20


def count(text: str) -> int:
    """A number of 1 or more."""
    number = whole(text) or 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of 1 or more")
    return number


def _above_0(such: str, fill: str = "") -> Callable[[str], float]:
    """A parser of numbers above 0; `fill` is what may stand in or behind one."""

    def number(text: str) -> float:
        try:
            value = float(text.strip().replace(fill, "") if fill else text)
        except ValueError:
            value = 0.0
        if not 0 < value < math.inf:
            raise argparse.ArgumentTypeError(f"{text!r} is no number above 0, such as {such}")
        return value

    return number


rate = _above_0("10000", ",")
positive = _above_0("1281167")
number = _above_0("20", "%")


def percent(text: str) -> float:
    """`20` or `20%` as 20; a share such as 0.2 would be a fifth of one percent."""
    value = number(text)
    if value < 1 and not text.strip().endswith("%"):
        raise argparse.ArgumentTypeError(f"{text!r} is less than 1 %: write 20 for a fifth")
    return value


def share(text: str) -> float:
    """`5%` or `5` as 0.05."""
    value = float(text.strip().removesuffix("%")) / 100
    if not 0 <= value < math.inf:
        raise ValueError(text)
    return value


def expectation(text: str) -> float | Path:
    """A rate, or a plan's report."""
    return Path(text) if text.endswith(".json") else rate(text)


def port(text: str) -> int:
    """A port's number."""
    number = whole(text) or 0
    if not 0 < number < 65536:
        raise argparse.ArgumentTypeError("not the number of a port")
    return number


def scheduler(text: str) -> str:
    """The address of a Dask scheduler."""
    if not re.fullmatch(r"(tcp|dask)://[^/\s]+:\d{1,5}", text):
        raise argparse.ArgumentTypeError(f"{text!r}: write tcp://HOST:PORT")
    return text


def batches(text: str) -> tuple[int, ...]:
    """`64..1024` as 64, 128, ... 1024; `128,256` as it stands."""
    if bounds := re.fullmatch(r"(\d+)\.\.(\d+)", text.strip()):
        first, last = int(bounds[1]), int(bounds[2])
        numbers = doubled(first, last) if 1 <= first <= last <= LARGEST_BATCH else ()
    else:
        parts = names(text)
        numbers = tuple(int(part) for part in parts if part.isdecimal())
        numbers = numbers if len(numbers) == len(parts) else ()
    if not numbers or not all(1 <= number <= LARGEST_BATCH for number in numbers):
        raise argparse.ArgumentTypeError(f"{text!r}: write 64..1024 or 128,256")
    return tuple(sorted(set(numbers)))


def doubled(first: int, last: int) -> tuple[int, ...]:
    """The batches from the first on, doubled as long as they do not pass the last."""
    batches = [first]
    while batches[-1] * 2 <= last:
        batches.append(batches[-1] * 2)
    return tuple(batches if batches[-1] == last else [*batches, last])


def names(text: str) -> list[str]:
    """`v5e-8,v6e-8` as a list."""
    return [part.strip() for part in text.split(",") if part.strip()]


def ids(text: str) -> list[str]:
    """`TPU101,tpu2` as a list."""
    return [part.upper() for part in names(text)]


COUNT = Kind(count, "N", {"ge": 1})
SECONDS = Kind(duration(), "TIME", {"gt": 0})
SECONDS_OR_0 = Kind(duration(zero=True), "TIME", {"ge": 0})
FILE, FOLDER = Kind(Path, "FILE"), Kind(Path, "DIR")
POSITIVE = Kind(positive, "N", {"gt": 0})
SHARE = Kind(share, "PERCENT", {"ge": 0})
PORT = Kind(port, "PORT")
IDS = Kind(ids, "IDS")
PERCENT, MINUTES = Kind(percent, "PERCENT"), Kind(number, "MINUTES")
TARGETS = Kind(names, "TPUS", {"min_length": 1})
SEVERAL = Kind(bounds={"min_length": 1})
BATCHES = Kind(batches, "BATCHES", each={"ge": 1})
