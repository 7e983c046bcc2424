"""The narrower cases within a case: what a text says beyond what it was recognised by."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from tpudiag.known_errors.literals import squeezed_pattern

from .meaning import Reading


class Said(Protocol):
    """A narrower case, as far as it is looked for."""

    @property
    def says(self) -> str:
        """How it is recognised."""
        ...

    @property
    def cause(self) -> str:
        """What is behind it."""
        ...

    @property
    def fix(self) -> str:
        """What mends it."""
        ...

    @property
    def near(self) -> str:
        """What must stand before it as well."""
        ...


def read(cases: Sequence[Said], around: str, wide: str) -> Reading | None:
    """The first of some narrower cases that a text without white space says.

    `wide`: the same place with the traceback and code that stand before it.
    """
    quoted = around.replace("`", "'")
    for case in cases:
        if case.near and not re.search(squeezed_pattern(case.near), wide, re.IGNORECASE):
            continue
        # Compiled here: an answer needs the few of its own error, not those of all.
        if told := re.search(squeezed_pattern(case.says), quoted, re.IGNORECASE):
            names = {name: value for name, value in told.groupdict().items() if value}
            return Reading(_named(case.cause, names), _named(case.fix, names), whole=True)
    return None


def _named(text: str, names: dict[str, str]) -> str:
    """A text with the names that the words hold; what they do not hold stays a blank."""
    return re.sub(r"<<(\w+)>>", lambda hole: names.get(hole[1], hole[0]), text)
