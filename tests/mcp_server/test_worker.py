"""What the worker asks the library for."""

import inspect
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tpudiag import library
from tpudiag.mcp_server.tools import tool
from tpudiag.mcp_server.worker import DIAGNOSES, library_arguments

CALLS: dict[str, dict[str, Any]] = {
    "check": {"program": "train.py", "whole": True},
    "fix": {"program": "train.py", "write": True},
    "read": {"path": "logs"},
    "plan": {},
    "compare": {"before": ["a.json"], "after": ["b.json"]},
}


def arguments(name: str) -> dict[str, Any]:
    given = msgspec.to_builtins(tool(name).read(CALLS[name]))
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
