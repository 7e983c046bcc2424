"""What a diagnosis is made of: checks, their outcomes and the report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass

Value = float | int | str | bool
"""What a figure may be; a float or int carries its unit beside it."""


class Severity(IntEnum):
    """How much a failed check matters; ordered."""

    INFO = 1
    WARNING = 2
    ERROR = 3

    @property
    def label(self) -> str:
        """The lower-case word used on the command line and in reports."""
        return self.name.lower()

    @classmethod
    def of(cls, label: str) -> Severity:
        """The severity for a label such as `warning`."""
        return cls[label.upper()]


class Verdict(Enum):
    """Three-valued truth, and the check that could not tell."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken"


@dataclass(frozen=True)
class Location:
    """A line of the user's code (or a file without a line)."""

    file: str
    line: int | None = None
    cell: int | None = None
    """The cell that `line` counts in, where the file is a notebook: 7 for In[7]."""

    def __str__(self) -> str:
        if self.cell is not None:
            return f"{self.file}, cell {self.cell}, line {self.line}"
        return self.file if self.line is None else f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Evidence:
    """One figure: what was seen, in which unit, against which limit, and where it came from."""

    name: str
    value: Value
    unit: str = ""
    limit: Value | None = None
    source: str = "job"


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong: said, proved, located and mended.

    `severity` overrides that of the check where one check knows two degrees.
    `cost_ms_per_step` and `cost_bytes` are what the finding costs, where that was measured.
    """

    message: str
    fix: str
    evidence: tuple[Evidence, ...] = ()
    location: Location | None = None
    severity: Severity | None = None
    cost_ms_per_step: float | None = None
    cost_bytes: int | None = None


class NotMeasured(Exception):
    """Raised by a check whose signals are missing: why, and how to measure them."""

    def __init__(self, reason: str, how: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.how = how


CheckFunction = Callable[..., Iterator[Finding | Evidence]]
"""(signals, limit=LIMIT) -> the findings, and the evidence on which it passes."""


@dataclass(frozen=True)
class Check:
    """A unit of checks/: one disease, its id, and the function that looks for it."""

    id: str
    severity: Severity
    function: CheckFunction

    @property
    def name(self) -> str:
        """The kebab-case name of the disease, from the function's name."""
        return self.function.__name__.replace("_", "-")

    @property
    def takes_limit(self) -> bool:
        """Whether it has a limit that users may set."""
        code: object = getattr(self.function, "__code__", None)
        return "limit" in getattr(code, "co_varnames", ())[: getattr(code, "co_argcount", 0)]

    @property
    def doc(self) -> str:
        """The docstring, which feeds `explain`, HTML, SARIF and the README."""
        return self.function.__doc__ or ""

    @property
    def title(self) -> str:
        """The docstring's first line."""
        return self.doc.strip().partition("\n")[0]


def check(id_: str, severity: Severity) -> Callable[[CheckFunction], Check]:
    """Make a check of a function over Signals."""
    return lambda function: Check(id_, severity, function)


@dataclass(frozen=True)
class Outcome:
    """What one check said."""

    id: str
    name: str
    verdict: Verdict
    severity: Severity
    reason: str | None = None
    how_to_measure: str | None = None
    findings: tuple[Finding, ...] = ()
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True)
class Measurement:
    """A figure of the report that stands outside any check."""

    value: Value
    unit: str
    source: str


@dataclass(frozen=True)
class Subject:
    """What was diagnosed: a job, a profile or a trainer."""

    kind: str
    name: str


@dataclass(frozen=True)
class TargetSummary:
    """The TPU that the report is about, e.g. v5e-8 with 8 replicas."""

    name: str
    replicas: int


@dataclass(frozen=True)
class Table:
    """Rows worth showing that are no check: top operations, hosts, devices."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    source: str


@dataclass(frozen=True)
class Series:
    """Figures along an axis, for plots: a line, a part of a stack or a row of a heat map.

    Those of one `kind` belong together: `step_time`, `step_part` (mean over the replicas),
    `replica_step` (without collectives, in which the fast wait for the slow), `memory`.
    """

    kind: str
    name: str
    x_unit: str
    unit: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    source: str
    limit: float | None = None
    """What `y` must not pass, in its unit, where that is known."""


@dataclass(frozen=True)
class Excerpt:
    """Lines of the user's code around a finding, as they were when the report was made."""

    file: str
    first_line: int
    lines: tuple[str, ...]
    cell: int | None = None
    """The cell whose lines they are, where the file is a notebook."""


@dataclass(frozen=True)
class Report:
    """A whole diagnosis; renderers turn it into text, and nothing else."""

    subject: Subject
    target: TargetSummary | None
    started: str
    outcomes: tuple[Outcome, ...]
    measurements: dict[str, Measurement] = field(default_factory=dict[str, Measurement])
    tables: tuple[Table, ...] = ()
    headline: str = ""
    notes: tuple[str, ...] = ()
    next_command: str | None = None
    partial: str | None = None
    """Why the report is not whole (interrupted, crashed), None where it is."""
    series: tuple[Series, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()

    def count(self, verdict: Verdict) -> int:
        """How many checks ended so."""
        return sum(outcome.verdict is verdict for outcome in self.outcomes)

    def worst_failure(self) -> Severity | None:
        """The highest severity among failed checks, None where none failed."""
        failed = [o.severity for o in self.outcomes if o.verdict is Verdict.FAILED]
        return max(failed, default=None)
