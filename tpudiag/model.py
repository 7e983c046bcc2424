"""What a diagnosis is made of: checks, their outcomes and the report."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, field
from enum import Enum
from functools import total_ordering
from typing import Literal

from tpudiag import errors
from tpudiag.errors import FailOn
from tpudiag.location import Location as Location  # noqa: PLC0414  (told to type checkers)
from tpudiag.records import dataclass
from tpudiag.report_figures import (
    Excerpt,
    Measurement,
    PlanRow,
    Series,
    StepPrediction,
    StepSamples,
    Table,
    Value,
    XProfLink,
)
from tpudiag.script_run import Coverage, Crash, HookDefect, RunEnvironment, Writes
from tpudiag.source_change import Mending, SourceChange


@total_ordering
class Severity(Enum):
    """How much a failed check matters; ordered. The value is the word in reports."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"

    @property
    def rank(self) -> int:
        """Its place in the order, to sort by."""
        return tuple(Severity).index(self)

    def __lt__(self, other: object) -> bool:
        return self.rank < other.rank if isinstance(other, Severity) else NotImplemented


class Confidence(Enum):
    """How sure a finding is; only what is sure can be an error.

    high: seen at run time; medium: follows from what was seen and a rule; low: read from names,
    text or a single short measurement.
    """

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Verdict(Enum):
    """Three-valued truth, and the check that could not decide."""

    PASSED = "passed"
    FAILED = "failed"
    SKIPPED = "skipped"
    BROKEN = "broken"


class Framework(Enum):
    """What a job trains with."""

    TENSORFLOW = "TensorFlow"
    JAX = "JAX"


BOTH = (Framework.TENSORFLOW, Framework.JAX)


@dataclass(frozen=True)
class Evidence:
    """One figure: what was seen, in which unit, against which limit, and where it came from."""

    name: str
    value: Value
    unit: str = ""
    limit: Value | None = None
    source: str = "job"


GONE = "it is gone with the changes of the other findings"
"""Why a finding needs no change of its own."""


@dataclass(frozen=True)
class Finding:
    """One problem: described, proved, located and fixed."""

    message: str
    fix: str
    """Concrete, copyable code."""
    evidence: tuple[Evidence, ...] = ()
    location: Location | None = None
    _: KW_ONLY
    severity: Severity | None = None
    """Overrides the check's severity, where set."""
    cost_ms_per_step: float | None = None
    """What it costs, where that was measured; `cost_bytes` likewise."""
    cost_bytes: int | None = None
    confidence: Confidence = Confidence.HIGH
    change: SourceChange | None = None
    """The change of the script that mends it, where one can be made."""
    no_change: str | None = None
    """Why none can be made, where that was looked for."""
    xprof_link: str | None = None
    """Where a running XProf shows it: the moment in the trace, or a page."""


class NotMeasured(Exception):
    """Raised by a check whose signals are missing: why, and how to measure them."""

    def __init__(self, reason: str, how: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.how = how


Judgement = Iterator[Finding | Evidence]
"""What a check yields: its findings, and the evidence on which it passes."""
CheckFunction = Callable[..., Judgement]
"""(signals, limit=LIMIT) -> the findings, and the evidence on which it passes."""


@dataclass(frozen=True)
class Check:
    """A unit of checks/: one disease, its id, and the function that looks for it."""

    id: str
    severity: Severity
    function: CheckFunction
    needs_data: bool = False
    """Whether its answer depends on the size or content of the data, and not on the code alone."""
    needs_model: bool = False
    """Whether its answer depends on the sizes of the model's parts."""
    frameworks: tuple[Framework, ...] = (Framework.TENSORFLOW,)
    """The frameworks that it supports."""

    @property
    def name(self) -> str:
        """The kebab-case name of the disease, from the function's name."""
        return self.function.__name__.replace("_", "-")

    @property
    def takes_limit(self) -> bool:
        """Whether it has a limit that users may set."""
        # Its code, not its signature: inspect is slow to load, and each start would ask.
        code: object = getattr(self.function, "__code__", None)
        return "limit" in getattr(code, "co_varnames", ())[: getattr(code, "co_argcount", 0)]

    @property
    def doc(self) -> str:
        """The docstring, which feeds `explain`, HTML, SARIF and the check's page."""
        return self.function.__doc__ or ""


def check(
    id_: str,
    severity: Severity,
    *,
    needs_data: bool = False,
    needs_model: bool = False,
    frameworks: tuple[Framework, ...] = (Framework.TENSORFLOW,),
) -> Callable[[CheckFunction], Check]:
    """Make a check of a function over Signals."""
    return lambda function: Check(id_, severity, function, needs_data, needs_model, frameworks)


@dataclass(frozen=True)
class Silenced:
    """A suppressed finding and the reason: counted, and ignored by the verdict."""

    finding: Finding
    reason: str


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one check."""

    id: str
    name: str
    verdict: Verdict
    severity: Severity
    reason: str | None = None
    """Why it was skipped and how to measure it, or how the check broke."""
    findings: tuple[Finding, ...] = ()
    how_to_measure: str | None = None
    evidence: tuple[Evidence, ...] = ()
    """The evidence on which the check passed."""
    silenced: tuple[Silenced, ...] = ()
    """Findings that a comment on their line, or their low confidence, keeps out."""

    @property
    def cause(self) -> str | None:
        """The reason without its way to measure."""
        if self.reason is None or self.how_to_measure is None:
            return self.reason
        return self.reason.removesuffix(_to_measure(self.how_to_measure)).removesuffix(". ") or None


def skipped_reason(cause: str | None, how: str | None) -> str | None:
    """`no steps seen` and `run longer` as `no steps seen. To measure it: run longer.`"""
    if how is None:
        return cause
    return _to_measure(how) if cause is None else f"{cause}. {_to_measure(how)}"


def _to_measure(how: str) -> str:
    """The sentence that says how to measure what was not."""
    return f"To measure it: {how}."


SubjectKind = Literal["job", "profile", "trainer"]
Shortfall = Literal["part", "whole"]
"""part: one source gave no data; whole: the run ended before all checks could run."""


@dataclass(frozen=True)
class Subject:
    """What was diagnosed: a job, a profile or a trainer."""

    kind: SubjectKind
    name: str


@dataclass(frozen=True)
class TargetSummary:
    """The TPU that the report is about, e.g. v5e-8 with 8 replicas."""

    name: str
    replicas: int


@dataclass(frozen=True, kw_only=True)
class Report:
    """A whole diagnosis; renderers turn it into text, and nothing else."""

    subject: Subject
    target: TargetSummary | None = None
    """The TPU the report is about."""
    started: str
    measurements: dict[str, Measurement] = field(default_factory=dict[str, Measurement])
    outcomes: tuple[Outcome, ...]
    """Every selected check, whatever its verdict."""
    headline: str = ""
    notes: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    next_command: str | None = None
    """What to run next, e.g. to open the profile."""
    partial: str | None = None
    """Why the report is not whole (interrupted, crashed), None where it is."""
    series: tuple[Series, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    samples: tuple[StepSamples, ...] = ()
    plan: tuple[PlanRow, ...] = ()
    predictions: tuple[StepPrediction, ...] = ()
    """The step on each requested target."""
    interrupted: bool = False
    """Whether Ctrl-C ended it; what was seen until then stands."""
    shortfall: Shortfall | None = None
    """What is missing of the request."""
    regressed: bool = False
    """Whether it failed a requested gate."""
    faults: tuple[str, ...] = ()
    """One line for each source that gave nothing, such as a trainer without a profile."""
    profile_folder: str | None = None
    """The TensorBoard folder that holds the profile it rests on, None where there is none."""

    crash: Crash | None = None
    """The exception that ended the job, with its own traceback."""
    coverage: Coverage | None = None
    """How much of a rehearsed script was run."""
    hook_defects: tuple[HookDefect, ...] = ()
    """Hooks of tpudiag that failed while the job ran; the job went on without them."""
    environment: RunEnvironment | None = None
    """What the job ran in; None where none was run."""
    writes: Writes | None = None
    """The job's writes; None where it did not run, or they are unknown."""
    fix_command: str | None = None
    """What shows and proves the changes of its findings, where some can be made."""
    mending: Mending | None = None
    """What became of the changes, where they were rehearsed."""
    xprof_links: tuple[XProfLink, ...] = ()
    """Where a running XProf shows the profile; of a comparison, what got worse."""

    def count(self, verdict: Verdict) -> int:
        """How many checks ended so."""
        return sum(outcome.verdict is verdict for outcome in self.outcomes)

    def exit_code(self, fail_on: FailOn = "error") -> int:
        """What the command line ends with: 0, 1 something failed, 2 not judged, 130 interrupted.

        After `fix`: 1 where findings remain, whatever their severity.
        """
        if self.interrupted:
            return errors.EXIT_INTERRUPTED
        if self.mending is not None:
            return int(self.mending.left > 0)
        worst = self.worst_failure()
        if fail_on != "never" and worst is not None and worst >= Severity(fail_on):
            return 1
        return max({None: 0, "part": 1, "whole": 2}[self.shortfall], int(self.regressed))

    def worst_failure(self) -> Severity | None:
        """The highest severity among failed checks, None where none failed."""
        return max([o.severity for o in self.outcomes if o.verdict is Verdict.FAILED], default=None)
