"""What agents see of the tools, what these ask the library for, and what of a report they get."""

import inspect
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator

from tests import made
from tpudiag import library
from tpudiag.errors import UsageError
from tpudiag.mcp_server.folder import Folder
from tpudiag.mcp_server.tools import TOOLS, Tool, report_schema, tool
from tpudiag.mcp_server.worker import DIAGNOSES, library_arguments, of_report, slim
from tpudiag.model import Evidence, Report, Severity, Verdict
from tpudiag.report_figures import Excerpt, StepSamples

EXAMPLES: dict[str, dict[str, Any]] = {
    "check": {"program": "train.py", "arguments": ["--epochs", "1"], "target": "v6e-8"},
    "fix": {"program": "train.py", "select": ["TPU2"], "write": True},
    "read": {"path": "logs", "top": 5, "select": ["TPU2"]},
    "plan": {"targets": ["v5e-8", "v6e-8"], "batch": [64, 128]},
    "compare": {"before": ["a.json"], "after": ["b.json", "c.json"]},
    "explain": {"id": "TPU101"},
}


@pytest.mark.slow
@pytest.mark.parametrize("each", TOOLS, ids=lambda each: each.name)
def test_a_tool_is_described_by_schemas_of_its_own(each: Tool) -> None:
    for schema in (each.input_schema, each.output_schema):
        Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"
    assert each.input_schema["additionalProperties"] is False
    assert len(each.description) > 40 and "\n" not in each.description
    example = EXAMPLES[each.name]
    Draft202012Validator(each.input_schema).validate(example)  # pyright: ignore[reportUnknownMemberType]
    each.read(example)


@pytest.mark.parametrize("each", TOOLS, ids=lambda each: each.name)
def test_arguments_are_those_of_the_library(each: Tool) -> None:
    if each.name == "explain":
        return
    known = set(inspect.signature(getattr(library, each.name)).parameters)
    assert set(each.input_schema["properties"]) - {"whole"} <= known


@pytest.mark.parametrize(
    ("name", "given"),
    [
        ("check", {"script": "train.py"}),
        ("check", {"steps": 0}),
        ("check", {"python": "/usr/bin/python3"}),
        ("check", {"in_place": True}),
        ("read", {}),
        ("read", {"path": 3}),
        ("plan", {"targets": []}),
        ("compare", {"before": [], "after": ["x"]}),
    ],
)
def test_arguments_that_do_not_fit_are_refused(name: str, given: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        tool(name).read(given)
    assert not Draft202012Validator(tool(name).input_schema).is_valid(given)  # pyright: ignore[reportUnknownMemberType]


def arguments(name: str) -> dict[str, Any]:
    given = msgspec.to_builtins(tool(name).read(EXAMPLES[name]))
    request = {"tool": name, "arguments": given, "python": "/usr/bin/python3"}
    return library_arguments(request, lambda _: None)


@pytest.mark.parametrize("name", DIAGNOSES)
def test_the_library_takes_what_it_is_called_with(name: str) -> None:
    assert DIAGNOSES[name] is getattr(library, name)
    inspect.signature(DIAGNOSES[name]).bind(**arguments(name))


def test_a_job_runs_in_the_servers_python_and_its_files_stay_in_the_folder() -> None:
    for name in ("check", "fix"):
        given = arguments(name)
        assert (given["python"], given["changes_within"]) == ("/usr/bin/python3", Path.cwd())
    assert arguments("check")["tpu"] == "none"
    assert arguments("plan")["python"] == "/usr/bin/python3"
    assert "python" not in arguments("read")


def test_a_tool_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match="cure: no such tool; there are check, "):
        tool("cure")


def long_report() -> Report:
    seen = tuple(Evidence(f"e{number}", number) for number in range(9))
    return made.report(
        made.outcome(
            "TPU101", Verdict.PASSED, name="retracing", severity=Severity.WARNING, evidence=seen
        ),
        series=(made.series("step_time", (2.0,)),),
        samples=(StepSamples("step_time_ms", "ms", (1.0, 2.0)),),
        excerpts=(Excerpt("/etc/passwd", 1, ("root",)),),
    )


def test_an_answer_is_short_and_fits_the_schema_of_reports() -> None:
    short = of_report(long_report(), whole=False)["result"]
    whole = of_report(long_report(), whole=True)["result"]
    for result in (short, whole):
        Draft202012Validator(report_schema()).validate(result)  # pyright: ignore[reportUnknownMemberType]
    assert (len(short["series"]), len(whole["series"])) == (0, 1)
    assert (len(short["outcomes"][0]["evidence"]), len(whole["outcomes"][0]["evidence"])) == (1, 9)
    assert slim(long_report()).outcomes[0].verdict is Verdict.PASSED


def test_lines_of_files_elsewhere_are_not_in_an_answer() -> None:
    assert of_report(long_report(), whole=True)["result"]["excerpts"] == []


@pytest.mark.slow
def test_fix_may_write_where_the_server_was_told_so(tmp_path: Path) -> None:
    from tpudiag.mcp_server.server import Verbs  # mcp takes seconds

    (tmp_path / "train.py").touch()
    given = {"program": "./train.py", "write": True}
    with pytest.raises(UsageError, match="--allow-write"):
        Verbs(Folder(tmp_path), None, may_write=False).request("fix", given)
    asked = Verbs(Folder(tmp_path), "/usr/bin/python3", may_write=True).request("fix", given)
    assert (asked["tool"], asked["python"]) == ("fix", "/usr/bin/python3")
    assert (asked["arguments"]["program"], asked["arguments"]["write"]) == ("train.py", True)
