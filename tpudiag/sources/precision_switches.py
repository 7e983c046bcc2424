"""The user's own settings for the precision of a job: arguments, and lines of files they name."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tpudiag.model import Location
from tpudiag.signals import PrecisionSwitch

MOST_BYTES = 1 << 20
_FILES = (".yaml", ".yml", ".json", ".toml", ".gin", ".cfg", ".ini")
_NAMED = r"[\w./-]*(?:precision|dtype|bfloat16|bf16|fp16|float16)\w*"
_SETTING = re.compile(
    rf"^\s*[\"']?{_NAMED}[\"']?\s*[:=]\s*[\"']?(?:\w*float\w*|true|false|bf16|fp16|fp32|\d+)[\"']?"
    r"\s*,?\s*(?:#.*)?$",
    re.IGNORECASE,
)
_ARGUMENT = re.compile(rf"^-{{0,2}}{_NAMED}(?:=|$)", re.IGNORECASE)


def look(arguments: Sequence[str]) -> tuple[PrecisionSwitch, ...]:
    """Those among a job's arguments, then those in the configurations that they name."""
    return (*_of_arguments(arguments), *_of_files(arguments))


def _of_arguments(arguments: Sequence[str]) -> Iterator[PrecisionSwitch]:
    """Flags by their names, with the value that follows where it is a word of its own."""
    for number, argument in enumerate(arguments):
        if _ARGUMENT.match(argument):
            value = next(iter(arguments[number + 1 : number + 2]), "")
            alone = "=" in argument or value.startswith("-")
            yield PrecisionSwitch(argument if alone else f"{argument} {value}".strip())


def _of_files(arguments: Sequence[str]) -> Iterator[PrecisionSwitch]:
    for argument in arguments:
        path = Path(argument.rpartition("=")[2])
        if path.suffix not in _FILES:
            continue
        try:
            text = path.read_text("utf-8") if path.stat().st_size <= MOST_BYTES else ""
        except (OSError, ValueError):
            continue  # the job itself says so
        for number, line in enumerate(text.splitlines(), 1):
            if _SETTING.match(line):
                yield PrecisionSwitch(line.strip(), Location(str(path), number))
