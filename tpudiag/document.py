"""The shape of the JSON report, which report-v1.schema.json tells too, as msgspec reads it."""

from __future__ import annotations

from enum import Enum

import msgspec

from tpudiag.model import Excerpt, Location, Subject, TargetSummary, Verdict

Cell = float | int | str | bool | None
"""A value; null was no finite number."""


class Label(Enum):
    """The words for the severities."""

    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class SavedTool(msgspec.Struct):
    """What made the report."""

    name: str
    version: str


class SavedSummary(msgspec.Struct):
    """How many checks ended how."""

    passed: int
    failed: int
    skipped: int
    broken: int


class SavedMeasurement(msgspec.Struct):
    """A figure outside any check."""

    value: Cell
    unit: str
    source: str


class SavedEvidence(msgspec.Struct):
    """One figure."""

    name: str
    value: Cell
    unit: str
    limit: Cell
    source: str


class SavedFinding(msgspec.Struct):
    """One thing that is wrong."""

    message: str
    fix: str
    location: Location | None
    evidence: tuple[SavedEvidence, ...]
    severity: Label | None = None
    cost_ms_per_step: float | None = None
    cost_bytes: int | None = None


class SavedOutcome(msgspec.Struct):
    """What one check said."""

    id: str
    name: str
    verdict: Verdict
    severity: Label
    reason: str | None
    findings: tuple[SavedFinding, ...]
    how_to_measure: str | None = None
    evidence: tuple[SavedEvidence, ...] = ()


class SavedTable(msgspec.Struct):
    """Rows worth showing."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    source: str


class SavedSeries(msgspec.Struct):
    """Figures along an axis."""

    kind: str
    name: str
    x_unit: str
    unit: str
    x: tuple[float | None, ...]
    y: tuple[float | None, ...]
    limit: float | None
    source: str


class Document(msgspec.Struct):
    """The whole report; keys after `outcomes` may be missing."""

    schema_version: int
    tool: SavedTool
    subject: Subject
    target: TargetSummary | None
    started: str
    summary: SavedSummary
    measurements: dict[str, SavedMeasurement]
    outcomes: tuple[SavedOutcome, ...]
    headline: str = ""
    notes: tuple[str, ...] = ()
    tables: tuple[SavedTable, ...] = ()
    next_command: str | None = None
    partial: str | None = None
    series: tuple[SavedSeries, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
