"""The JSON report: its one shape, from the model and back.

Lossless but for what JSON cannot say: NaN and infinity become null (read back as NaN), and a
lone surrogate of a file name becomes its backslash escape. Keys this version does not know are
passed over, so that a later report of the same schema version stays readable.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import msgspec

from tpudiag.document import (
    Cell,
    Document,
    Label,
    SavedEvidence,
    SavedFinding,
    SavedMeasurement,
    SavedOutcome,
    SavedSeries,
    SavedSummary,
    SavedTable,
    SavedTool,
)
from tpudiag.errors import UnreadableInput
from tpudiag.model import (
    Evidence,
    Finding,
    Measurement,
    Outcome,
    Report,
    Series,
    Severity,
    Table,
    Value,
    Verdict,
)
from tpudiag.version import __version__

SCHEMA_VERSION = 1

_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def dumps(report: Report) -> str:
    """The report as JSON text, indented, its keys in the order of the contract."""
    document = Document(
        SCHEMA_VERSION,
        SavedTool("tpudiag", __version__),
        report.subject,
        report.target,
        report.started,
        SavedSummary(*(report.count(verdict) for verdict in Verdict)),
        {
            name: SavedMeasurement(_finite(m.value), m.unit, m.source)
            for name, m in report.measurements.items()
        },
        tuple(_outcome(outcome) for outcome in report.outcomes),
        report.headline,
        report.notes,
        tuple(_table(table) for table in report.tables),
        report.next_command,
        report.partial,
        tuple(_series(series) for series in report.series),
        report.excerpts,
    )
    plain: object = msgspec.to_builtins(document, enc_hook=_scalar)
    text = json.dumps(plain, indent=2, ensure_ascii=False, allow_nan=False)
    return _UNSAFE.sub(_escape, text) + "\n"


def load(path: str | Path) -> Report:
    """The report saved in a JSON file; UnreadableInput, in one line, where it holds none."""
    try:
        raw: object = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: not a JSON report: {_line(error)}") from error
    version: object = raw.get("schema_version") if isinstance(raw, dict) else None  # pyright: ignore
    if not isinstance(version, int):
        raise UnreadableInput(f"{path}: not a report of tpudiag: it has no schema_version")
    if version != SCHEMA_VERSION:
        raise UnreadableInput(
            f"{path}: a report of schema version {version}; this tpudiag reads {SCHEMA_VERSION}"
        )
    try:
        return _report(msgspec.convert(raw, Document))
    except (msgspec.ValidationError, OverflowError) as error:
        raise UnreadableInput(f"{path}: not a report of tpudiag: {_line(error)}") from error


def _report(saved: Document) -> Report:
    """The model of a saved document."""
    return Report(
        saved.subject,
        saved.target,
        saved.started,
        tuple(_read_outcome(outcome) for outcome in saved.outcomes),
        {
            name: Measurement(_value(m.value), m.unit, m.source)
            for name, m in saved.measurements.items()
        },
        tuple(
            Table(t.title, t.columns, tuple(tuple(map(_value, r)) for r in t.rows), t.source)
            for t in saved.tables
        ),
        saved.headline,
        saved.notes,
        saved.next_command,
        saved.partial,
        tuple(_read_series(series) for series in saved.series),
        saved.excerpts,
    )


def _outcome(outcome: Outcome) -> SavedOutcome:
    """An outcome as saved; its reason says how to measure what was not."""
    return SavedOutcome(
        outcome.id,
        outcome.name,
        outcome.verdict,
        Label[outcome.severity.name],
        _joined(outcome.reason, outcome.how_to_measure),
        tuple(_finding(finding) for finding in outcome.findings),
        outcome.how_to_measure,
        tuple(_evidence(evidence) for evidence in outcome.evidence),
    )


def _read_outcome(saved: SavedOutcome) -> Outcome:
    """An outcome as it was."""
    return Outcome(
        saved.id,
        saved.name,
        saved.verdict,
        Severity[saved.severity.name],
        _parted(saved.reason, saved.how_to_measure),
        saved.how_to_measure,
        tuple(_read_finding(finding) for finding in saved.findings),
        tuple(_read_evidence(evidence) for evidence in saved.evidence),
    )


def _finding(finding: Finding) -> SavedFinding:
    """A finding as saved."""
    cost = finding.cost_ms_per_step
    return SavedFinding(
        finding.message,
        finding.fix,
        finding.location,
        tuple(_evidence(evidence) for evidence in finding.evidence),
        None if finding.severity is None else Label[finding.severity.name],
        None if cost is None or not math.isfinite(cost) else cost,
        finding.cost_bytes,
    )


def _read_finding(saved: SavedFinding) -> Finding:
    """A finding as it was."""
    return Finding(
        saved.message,
        saved.fix,
        tuple(_read_evidence(evidence) for evidence in saved.evidence),
        saved.location,
        None if saved.severity is None else Severity[saved.severity.name],
        saved.cost_ms_per_step,
        saved.cost_bytes,
    )


def _evidence(evidence: Evidence) -> SavedEvidence:
    """A figure as saved."""
    value, limit = _finite(evidence.value), _finite(evidence.limit)
    return SavedEvidence(evidence.name, value, evidence.unit, limit, evidence.source)


def _read_evidence(saved: SavedEvidence) -> Evidence:
    """A figure as it was; a null value was no number."""
    return Evidence(saved.name, _value(saved.value), saved.unit, saved.limit, saved.source)


def _table(table: Table) -> SavedTable:
    """A table as saved."""
    rows = tuple(tuple(_finite(cell) for cell in row) for row in table.rows)
    return SavedTable(table.title, table.columns, rows, table.source)


def _series(series: Series) -> SavedSeries:
    """A series as saved."""
    x, y = (tuple(map(_number, values)) for values in (series.x, series.y))
    limit = None if series.limit is None else _number(series.limit)
    return SavedSeries(
        series.kind, series.name, series.x_unit, series.unit, x, y, limit, series.source
    )


def _read_series(saved: SavedSeries) -> Series:
    """A series as it was; a null was no number."""
    x, y = (tuple(math.nan if v is None else v for v in values) for values in (saved.x, saved.y))
    return Series(saved.kind, saved.name, saved.x_unit, saved.unit, x, y, saved.source, saved.limit)


def _number(value: float) -> float | None:
    """The number, or None where JSON has none for it."""
    return value if math.isfinite(value) else None


def _finite(value: Value | None) -> Cell:
    """The value, or None where JSON has no word for it."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _value(cell: Cell) -> Value:
    """The value that was saved."""
    return math.nan if cell is None else cell


def _joined(reason: str | None, how: str | None) -> str | None:
    """`no steps seen` and `run longer` as `no steps seen. To measure it: run longer.`"""
    if how is None:
        return reason
    return f"To measure it: {how}." if reason is None else f"{reason}. To measure it: {how}."


def _parted(text: str | None, how: str | None) -> str | None:
    """The reason alone: what `_joined` made one of."""
    if text is None or how is None:
        return text
    return (
        None if text == f"To measure it: {how}." else text.removesuffix(f". To measure it: {how}.")
    )


def _scalar(value: object) -> object:
    """A NumPy scalar that a check let through, as the plain number it holds."""
    item = getattr(value, "item", None)
    return _finite(item()) if callable(item) else str(value)  # pyright: ignore


def _escape(match: re.Match[str]) -> str:
    """JSON's escape of a character that could act on a terminal; of a surrogate, its name."""
    code = f"\\u{ord(match[0]):04x}"
    return f"\\{code}" if 0xD800 <= ord(match[0]) < 0xE000 else code


def _line(error: BaseException) -> str:
    """The error's text on one line."""
    return " ".join(str(error).split())
