"""What a fix is: a function from a finding and the source of its line to edits of that source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tpudiag.fixes.edits import Edit
from tpudiag.fixes.source import Source
from tpudiag.model import Finding, Framework
from tpudiag.source_change import Effect


@dataclass(frozen=True, kw_only=True)
class Place:
    """A finding in the source of its line."""

    id: str
    finding: Finding
    source: Source
    line: int | None
    """The line of the finding in the source; None where the finding names none."""
    replicas: int = 8
    hosts: int = 1
    host_ram_bytes: int | None = None
    framework: Framework = Framework.TENSORFLOW
    """That the script trains with."""

    def figure(self, name: str) -> object:
        """The value of a piece of the finding's evidence, None where there is none."""
        return next((e.value for e in self.finding.evidence if e.name == name), None)


FixFunction = Callable[[Place], Iterator[Edit]]
"""Yields the edits; raises NoChange where there is no safe change."""


@dataclass(frozen=True)
class Fix:
    """A change that mends the findings of some checks."""

    ids: tuple[str, ...]
    effect: Effect
    title: str
    function: FixFunction
    frameworks: tuple[Framework, ...]
    """Whose scripts it can be made in."""


def fix(
    *ids: str,
    effect: Effect,
    title: str,
    frameworks: tuple[Framework, ...] = (Framework.TENSORFLOW,),
) -> Callable[[FixFunction], Fix]:
    """Make a fix of a function over a Place; `title` is what it does, as a command."""
    return lambda function: Fix(ids, effect, title, function, frameworks)
