"""The JSON report: its contract, and the way back."""

import json
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator, FormatChecker

from tests import made
from tpudiag import report_json
from tpudiag.catalogue import renderer
from tpudiag.errors import UnreadableInput
from tpudiag.model import Evidence, Report, Severity, Verdict
from tpudiag.report_figures import Measurement

SCHEMA: dict[str, Any] = json.loads(
    files("tpudiag.reports").joinpath("report-v1.schema.json").read_text(encoding="utf-8")
)
VALIDATOR = Draft202012Validator(SCHEMA, format_checker=FormatChecker())


def fits(document: dict[str, Any]) -> bool:
    """Whether the document is valid; the first fault is printed."""
    faults = [fault.message for fault in VALIDATOR.iter_errors(document)]  # pyright: ignore
    print(*faults[:1])
    return not faults


def rendered(report: Report) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(renderer("json")(report))
    return document


def test_the_schema_file_is_made_from_the_model() -> None:
    assert json.loads(json.dumps(report_json.schema())) == SCHEMA, (
        "python -m tpudiag.report_json > reports/report-v1.schema.json"
    )


def test_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(SCHEMA)


def test_every_report_fits_the_schema(specimen: Report) -> None:
    assert fits(rendered(specimen))


def test_a_saved_report_comes_back_equal(name: str, specimen: Report, tmp_path: Path) -> None:
    if name == "hostile":
        pytest.skip("holds NaN and a lone surrogate, which JSON cannot")
    file = tmp_path / "r.json"
    file.write_text(renderer("json")(specimen), encoding="utf-8")
    assert report_json.load(file) == specimen


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_no_number_that_json_lacks(specimens: dict[str, Report], number: float) -> None:
    said = Evidence("e", number, limit=number)
    report = replace(
        specimens["empty"],
        outcomes=(
            made.outcome(
                "TPU1", Verdict.PASSED, name="n", severity=Severity.INFO, evidence=(said,)
            ),
        ),
        measurements={"m": Measurement(number, "ms", "job")},
    )
    document = rendered(report)
    assert fits(document)
    assert document["measurements"]["m"]["value"] is None
    assert document["outcomes"][0]["evidence"][0]["limit"] is None


def test_a_numpy_scalar_becomes_a_number(specimens: dict[str, Report]) -> None:
    class Scalar:
        def item(self) -> int:
            return 7

    measurement = Measurement(Scalar(), "ms", "job")  # type: ignore[arg-type]  # pyright: ignore
    report = replace(specimens["empty"], measurements={"m": measurement})
    assert rendered(report)["measurements"]["m"]["value"] == 7


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"outcome": []},
        {"started": "yesterday"},
        {"summary": {"passed": 1}},
        {"target": {"name": "v5e-8"}},
        {"subject": {"kind": "dog", "name": "x"}},
        {"outcomes": [{"id": "TPU101"}]},
    ],
)
def test_the_schema_refuses_what_breaks_the_contract(
    specimens: dict[str, Report], change: dict[str, object]
) -> None:
    assert not fits(rendered(specimens["healthy"]) | change)


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (None, "No such file"),
        ("", "not a JSON report"),
        ('{"schema_version": 1', "not a JSON report"),
        ("[" * 100_000, "not a JSON report"),
        ("[]", "no schema_version"),
        ('{"hello": 1}', "no schema_version"),
        ('{"schema_version": 2}', "schema version 2"),
        ('{"schema_version": 1}', "missing required field"),
        ("\udcff", "not a JSON report"),
    ],
)
def test_what_is_no_report_is_refused_in_one_line(
    tmp_path: Path, text: str | None, cause: str
) -> None:
    file = tmp_path / "r.json"
    if text is not None:
        file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(UnreadableInput) as caught:
        report_json.load(file)
    assert str(caught.value).startswith(f"{file}: ")
    assert cause in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("damage", ["verdict", "severity", "evidence", "id"])
def test_a_damaged_outcome_is_refused(
    specimens: dict[str, Report], tmp_path: Path, damage: str
) -> None:
    document = rendered(specimens["healthy"])
    document["outcomes"][0][damage] = 17
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(UnreadableInput, match=rf"\$\.outcomes\[0\]\.{damage}"):
        report_json.load(file)


def test_a_later_release_may_add_keys(specimens: dict[str, Report], tmp_path: Path) -> None:
    document = rendered(specimens["healthy"]) | {"colour": "blue"}
    file = tmp_path / "r.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert report_json.load(str(file)) == specimens["healthy"]
