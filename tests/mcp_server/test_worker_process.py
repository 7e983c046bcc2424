"""A worker has an end: that of its time, and that of its client."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from tpudiag.mcp_server import server
from tpudiag.mcp_server.tools import Tool, tool

HELD = """
import re, sys
from dataclasses import replace
from tpudiag.mcp_server import tools, worker
worker.tool = lambda name: replace(tools.tool(name), limit_s={limit_s})
worker.LEAVING_S = 0.1
# One call that holds the interpreter: neither a signal nor a thread is heard while it goes on.
worker.answer = lambda request, wire: re.match("(a+)+$", "a" * 64 + "b")
sys.exit(worker.main())
"""


def hasty(name: str) -> Tool:
    """A tool that has no time."""
    return replace(tool(name), limit_s=0.2)


async def never(phase: str) -> None:
    raise AssertionError(phase)


def test_a_worker_that_takes_too_long_is_ended_and_the_client_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sleeper = (sys.executable, "-c", "import sys; sys.stdin.read()")
    monkeypatch.setattr(server, "WORKER", sleeper)
    monkeypatch.setattr(server, "tool", hasty)
    request: dict[str, Any] = {"tool": "explain", "arguments": {}}
    answer = anyio.run(server.answered, request, Path.cwd(), never)
    assert answer == {"error": "explain took more than 0.2 s and was ended"}


@pytest.mark.slow
def test_a_worker_whose_call_holds_the_interpreter_ends_by_itself() -> None:
    command = (sys.executable, "-P", "-c", HELD.format(limit_s=0.1))
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdin is not None
        worker.stdin.write('{"tool": "explain", "arguments": {}}\n')
        worker.stdin.flush()
        assert worker.wait(timeout=800) == 1
        assert worker.stderr is not None
        assert "Timeout" in worker.stderr.read()


@pytest.mark.slow
def test_explain_ends_with_its_client_in_the_midst_of_a_large_text(tmp_path: Path) -> None:
    large = tmp_path / "log.txt"
    large.write_text("ValueError: what nobody knows\n" * 3_000_000, encoding="utf-8")
    with subprocess.Popen(
        server.WORKER, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=tmp_path
    ) as worker:
        assert worker.stdin is not None
        worker.stdin.write(b'{"tool": "explain", "arguments": {"log": "log.txt"}}\n')
        worker.stdin.close()
        assert worker.wait(timeout=800) == 130
