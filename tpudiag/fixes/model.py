"""The model of a fix: a function from a finding and its source to edits of that source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tpudiag.fixes.edits import Edit
from tpudiag.fixes.source import Source
from tpudiag.model import Finding, Framework
from tpudiag.source_change import Effect


@dataclass(frozen=True, kw_only=True)
class Place:
    """A finding with its source."""

    id: str
    finding: Finding
    source: Source
    line: int | None
    """The finding's line in the source; None where it has none."""
    replicas: int = 8
    hosts: int = 1
    host_ram_bytes: int | None = None
    framework: Framework = Framework.TENSORFLOW
    """The script's framework."""

    def figure(self, name: str) -> object:
        """A value from the finding's evidence, None where it is missing."""
        return next((e.value for e in self.finding.evidence if e.name == name), None)


FixFunction = Callable[[Place, Source], Iterator[Edit]]
"""Yields the edits; raises NoChange where there is no safe change."""


@dataclass(frozen=True)
class Fix:
    """A change that fixes findings of some checks."""

    ids: tuple[str, ...]
    effect: Effect
    title: str
    function: FixFunction
    frameworks: tuple[Framework, ...]
    """The frameworks whose scripts it applies to."""
    figure: str
    """The evidence of the findings that it applies to; empty for all of the check."""


def fix(
    *ids: str,
    effect: Effect,
    title: str,
    frameworks: tuple[Framework, ...] = (Framework.TENSORFLOW,),
    figure: str = "",
) -> Callable[[FixFunction], Fix]:
    """Make a fix from a function over a Place; `title` is an imperative description."""
    return lambda function: Fix(ids, effect, title, function, frameworks, figure)
