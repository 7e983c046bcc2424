"""The JSON report: the model itself, read and written by msgspec, and its schema.

Lossless but for secrets, which are hidden, and for what JSON cannot say: NaN and infinity become
null (read back as NaN), and a lone surrogate of a file name becomes its backslash escape. Keys this
version does not know are passed over, so that a later report of the same schema version stays
readable.
"""

import inspect
import json
import math
import re
from pathlib import Path
from typing import Any, cast

import msgspec

from tpudiag.bounded_files import read_text
from tpudiag.errors import UnreadableInput, line_of
from tpudiag.model import Outcome, Report, Verdict
from tpudiag.sanitized import redacted
from tpudiag.version import __version__

SCHEMA_VERSION = 1
REQUIRED = (
    "schema_version", "tool", "subject", "target", "started", "summary", "measurements", "outcomes",
)  # fmt: skip
FIRST = ("message", "fix", "location")
"""What a finding says first, whatever order its fields have in Python."""
STARTED = r"^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$"
INVARIANTS = (
    {
        "if": {"properties": {"verdict": {"const": "failed"}}},
        "then": {"properties": {"findings": {"minItems": 1}}},
        "else": {"properties": {"findings": {"maxItems": 0}}},
    },
    {
        "if": {"properties": {"verdict": {"enum": ["skipped", "broken"]}}},
        "then": {"properties": {"reason": {"type": "string"}}},
    },
    {
        "if": {"properties": {"verdict": {"const": "passed"}}},
        "then": {"properties": {"evidence": {"minItems": 1}}},
    },
)
"""What a verdict promises: findings where it failed, evidence where it passed, else a reason."""

# Control characters, signs that turn the direction of writing round and hide text so, lone
# surrogates: names of files and operations come from anywhere.
_UNSAFE = re.compile("[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_RARE = frozenset(
    (
        "cell",
        "environment",
        "change",
        "no_change",
        "fix_command",
        "mending",
        "xprof_links",
        "writes",
        "shortfall",
        "regressed",
    )
)
"""Keys that stand only where there is something to say: few files are notebooks."""
_NOTHING: tuple[object, ...] = (None, (), [], False)
_NULL_IS_NAN = frozenset(("value", "x", "y", "rows", "values"))
"""Keys under which a null was no finite number."""


def dumps(report: Report) -> str:
    """The report as JSON text, indented, its keys in the order of the contract."""
    plain = msgspec.to_builtins(report, enc_hook=_scalar)
    # What a report that was read left out has its default, which msgspec does not write.
    for outcome in plain["outcomes"]:
        findings = outcome.get("findings", ())
        outcome["findings"] = [{**dict.fromkeys(FIRST), **each} for each in findings]
    document = {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "tpudiag", "version": __version__},
        **{key: plain.get(key) for key in ("subject", "target", "started")},
        "summary": {verdict.value: report.count(verdict) for verdict in Verdict},
        **plain,
    }
    # The standard library indents in Python, ten times slower than it writes without.
    text = json.dumps(_finite(document), ensure_ascii=False, allow_nan=False)
    return msgspec.json.format(_UNSAFE.sub(_escape, redacted(text)), indent=2) + "\n"


def load(path: str | Path) -> Report:
    """The report saved in a JSON file; UnreadableInput, in one line, where it holds none."""
    try:
        # Not by msgspec at once: under some keys a null is to become NaN before types are looked
        # at.
        raw: object = json.loads(read_text(path))
    except OSError as error:
        raise UnreadableInput(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        raise UnreadableInput(f"{path}: not a JSON report: {line_of(error)}") from error
    version: object = raw.get("schema_version") if isinstance(raw, dict) else None  # pyright: ignore
    if not isinstance(version, int):
        raise UnreadableInput(f"{path}: not a report of tpudiag: it has no schema_version")
    if version != SCHEMA_VERSION:
        raise UnreadableInput(
            f"{path}: a report of schema version {version}; this tpudiag reads {SCHEMA_VERSION}"
        )
    try:
        report = msgspec.convert(_revived(raw), Report)  # pyright: ignore[reportUnknownArgumentType]
    except (msgspec.ValidationError, OverflowError, RecursionError) as error:
        raise UnreadableInput(f"{path}: not a report of tpudiag: {line_of(error)}") from error
    if broken := next((o for o in report.outcomes if not _holds(o)), None):
        lacks = f"{broken.id} is {broken.verdict.value} without saying why"
        raise UnreadableInput(f"{path}: not a report of tpudiag: {lacks}")
    return report


def _holds(outcome: Outcome) -> bool:
    if outcome.verdict is Verdict.FAILED:
        return bool(outcome.findings)
    if outcome.verdict is Verdict.PASSED:
        return bool(outcome.evidence)
    return outcome.reason is not None


def schema() -> dict[str, Any]:
    """The JSON Schema of a report, made from the model; reports/report-v1.schema.json holds it."""
    definitions = msgspec.json.schema(Report)["$defs"]
    own = definitions.pop("Report")["properties"]
    count = {"type": "integer", "minimum": 0}
    verdicts = [verdict.value for verdict in Verdict]
    own["started"] |= {"format": "date-time", "pattern": STARTED}
    for definition in definitions.values():
        if "description" in definition:
            # As Python 3.13 has docstrings.
            definition["description"] = inspect.cleandoc(definition["description"])
        if "properties" in definition:
            definition["additionalProperties"] = False
            for name, of in definition["properties"].items():
                if name in _NULL_IS_NAN:
                    definition["properties"][name] = _or_null(of, inside=name != "value")
    definitions["Outcome"]["allOf"] = list(INVARIANTS)
    definitions["TargetSummary"]["properties"]["replicas"] |= {"minimum": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tpudiag report, version 1",
        "description": "What tpudiag found out about a TensorFlow training job on TPU. Every "
        "selected check stands in outcomes, whatever its verdict; skipped means not measured, "
        "never healthy. A value is null where it was no finite number. Later releases may add "
        "keys, never change or remove one within a version.",
        "type": "object",
        "properties": {
            "schema_version": {"const": SCHEMA_VERSION},
            "tool": _closed({"name": {"const": "tpudiag"}, "version": {"type": "string"}}),
            "summary": _closed(dict.fromkeys(verdicts, count)),
            **own,
        },
        "required": list(REQUIRED),
        "additionalProperties": False,
        "$defs": definitions,
    }


def _closed(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(of: dict[str, Any], inside: bool) -> dict[str, Any]:
    """The schema, or (of an array: its innermost items) null."""
    if inside and of.get("type") == "array":
        return {**of, "items": _or_null(of["items"], inside)}
    return {"anyOf": [*of.get("anyOf", [of]), {"type": "null"}]}


def _finite(value: object) -> object:
    """The same with null for each number that JSON has no word for, without rare empty keys."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        pairs = cast("dict[str, object]", value).items()
        return {key: _finite(of) for key, of in pairs if key not in _RARE or of not in _NOTHING}
    if isinstance(value, (list, tuple)):
        items = cast("list[object]", value)
        return items if _are_finite(items) else [_finite(of) for of in items]
    return value


def _are_finite(values: list[object]) -> bool:
    """Whether these are numbers that JSON has words for, as in the long lists of figures."""
    try:
        # One sum in C for a list of thousands: NaN and infinity survive any sum.
        return math.isfinite(math.fsum(cast("list[float]", values)))
    except (TypeError, ValueError, OverflowError):
        return False


def _revived(value: object, key: str = "") -> object:
    """The same with NaN for each null that was no number."""
    if value is None and key in _NULL_IS_NAN:
        return math.nan
    if isinstance(value, dict):
        return {name: _revived(of, name) for name, of in cast("dict[str, object]", value).items()}
    if isinstance(value, list):
        return [_revived(of, key) for of in cast("list[object]", value)]
    return value


def _scalar(value: object) -> object:
    """A NumPy scalar that a check let through, as the plain number it holds."""
    item = getattr(value, "item", None)
    return item() if callable(item) else str(value)


def _escape(match: re.Match[str]) -> str:
    """JSON's escape of a character that could act on a terminal; of a surrogate, its name."""
    code = f"\\u{ord(match[0]):04x}"
    return f"\\{code}" if 0xD800 <= ord(match[0]) < 0xE000 else code


if __name__ == "__main__":  # python -m tpudiag.report_json > reports/report-v1.schema.json
    print(json.dumps(schema(), indent=2))
