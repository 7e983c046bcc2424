"""`--help`, `--version` and `explain` load nothing heavy; wrong usage is reported on stderr."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = (
    "tensorflow",
    "jax",
    "grpc",
    "google.cloud",
    "xprof",
    "rich",
    "jinja2",
    "numpy",
    "msgspec",
    "plotly",
    "markdown_it",
    "mcp",
    "pydantic",
    "tpudiag.signals",
)
RUNNER = f"""
import sys
from tpudiag.cli import main
try:
    main(sys.argv[1:])
finally:
    print("loaded:", *[name for name in {HEAVY!r} if name in sys.modules])
"""


def tpudiag(*arguments: str, runner: str | None = None) -> subprocess.CompletedProcess[str]:
    start = ["-m", "tpudiag"] if runner is None else ["-c", runner]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        text=True,
        timeout=800,
        check=False,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["check", "--help"],
        ["attach", "--help"],
        ["watch", "--help"],
        ["alerts", "--help"],
        ["explain", "TPU101"],
        ["explain"],
        ["explain", "--error", "Please provide a TPU Name to connect to"],
        ["render", "--help"],
        ["mcp", "--help"],
    ],
)
def test_nothing_heavy_is_imported(arguments: list[str]) -> None:
    done = tpudiag(*arguments, runner=RUNNER)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(("usage: tpudiag", "tpudiag ", "TPU", "E01 "))
    assert done.stdout.splitlines()[-1].strip() == "loaded:"


@pytest.mark.parametrize(
    "arguments",
    [[], ["cure"], ["check", "--nonsense"], ["read"], ["check", "--fail-on", "sometimes"]],
)
def test_wrong_usage_exits_2_and_says_why(arguments: list[str]) -> None:
    done = tpudiag(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "tpudiag" in done.stderr
    assert "error: " in done.stderr
    assert "Traceback" not in done.stderr
