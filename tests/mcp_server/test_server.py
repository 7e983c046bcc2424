"""A client of the same SDK drives the real server: one process for all requests here."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import pytest
from jsonschema import Draft202012Validator
from mcp import Client, types
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.commands.called import refused, started
from tests.tiny_job import STRATEGY, TRAINING, VARIABLE
from tpudiag.mcp_server.tools import report_schema

pytestmark = pytest.mark.slow

SCRIPT = f"""\
import tensorflow as tf

print("to stdout, which is the protocol's")
open("written.txt", "w").write("x")
{STRATEGY}{VARIABLE}{TRAINING}"""
QUICK = {"steps": 4, "first_loop": True, "no_compile": True, "select": ["TPU1"]}


@dataclass
class Talk:
    """What was said in one session with a server."""

    folder: Path
    tools: list[types.Tool] = field(default_factory=list[types.Tool])
    answers: dict[str, types.CallToolResult] = field(
        default_factory=dict[str, types.CallToolResult]
    )
    progress: list[tuple[float, str]] = field(default_factory=list[tuple[float, str]])
    at_cancel: set[int] = field(default_factory=set[int])
    after_cancel: set[int] = field(default_factory=set[int])
    faults: list[object] = field(default_factory=list[object])

    def text(self, name: str) -> str:
        """The text of an answer."""
        (content, *_) = self.answers[name].content
        assert isinstance(content, types.TextContent)
        return content.text

    async def heard(self, message: object) -> None:
        """What is no message of the protocol is a fault."""
        if isinstance(message, Exception):
            self.faults.append(message)


def workers(folder: Path) -> set[int]:
    """The processes that work in a folder, but for this one."""
    pids: set[int] = set()
    for place in Path("/proc").glob("[0-9]*"):
        try:
            if (place / "cwd").readlink() == folder and b"mcp\0" not in (
                (place / "cmdline").read_bytes()
            ):
                pids.add(int(place.name))
        except OSError:
            continue
    return pids - {os.getpid()}


async def talk_to_server(talk: Talk) -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "tpudiag", "mcp", "--python", sys.executable],
        cwd=talk.folder,
        env={"PYTHONPATH": "", "TF_CPP_MIN_LOG_LEVEL": "3"},
    )
    async with Client(stdio_client(server), message_handler=talk.heard) as client:
        talk.tools = (await client.list_tools()).tools

        async def heard(progress: float, total: float | None, message: str | None) -> None:
            assert total is None
            talk.progress.append((progress, message or ""))

        async def ask(key: str, name: str, **given: Any) -> None:
            talk.answers[key] = await client.call_tool(name, given, progress_callback=heard)

        await ask("explain", "explain", error="Please provide a TPU Name to connect to.")
        await ask("outside", "check", program="../train.py")
        await ask("write", "fix", program="train.py", write=True)
        await ask("unknown id", "check", program="train.py", select=["TPU999"])
        started = anyio.Event()

        async def begun(progress: float, total: float | None, message: str | None) -> None:
            del progress, total
            if "importing TensorFlow" in (message or ""):
                started.set()

        async with anyio.create_task_group() as group:

            async def cancelled() -> None:
                await client.call_tool("check", {"program": "train.py"}, progress_callback=begun)

            group.start_soon(cancelled)
            await started.wait()
            talk.at_cancel = workers(talk.folder)
            group.cancel_scope.cancel()
        # The next diagnosis has its turn once the cancelled one is gone with all it started.
        await ask("fix", "fix", program="train.py", **QUICK)
        talk.after_cancel = workers(talk.folder) & talk.at_cancel


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    folder = tmp_path_factory.mktemp("project").resolve()
    (folder / "train.py").write_text(SCRIPT, encoding="utf-8")
    talk = Talk(folder)
    anyio.run(talk_to_server, talk)
    yield talk


def test_tools_come_with_their_schemas(talk: Talk) -> None:
    tools = {tool.name: tool for tool in talk.tools}
    assert set(tools) == {"check", "fix", "read", "plan", "compare", "explain"}
    assert tools["check"].output_schema == report_schema()
    assert tools["read"].annotations and tools["read"].annotations.read_only_hint


def test_a_diagnosis_answers_with_the_report_and_a_short_text(talk: Talk) -> None:
    answer = talk.answers["fix"]
    assert not answer.is_error, talk.text("fix")
    report: dict[str, Any] = answer.structured_content or {}
    Draft202012Validator(report_schema()).validate(report)  # pyright: ignore[reportUnknownMemberType]
    (failed,) = [o for o in report["outcomes"] if o["id"] == "TPU102"]
    assert failed["findings"][0]["location"] == {"file": "train.py", "line": 8}
    assert "proven by 2 rehearsals" in talk.text("fix")
    assert report["excerpts"][0]["file"] == "train.py"
    assert failed["findings"][0]["change"]["state"] == "proven"
    assert "+" in report["mending"]["diff"] and "drop_remainder=True" in report["mending"]["diff"]


def test_progress_grows_and_says_what_is_being_done(talk: Talk) -> None:
    seconds = [progress for progress, _ in talk.progress]
    said = [message.partition(" (")[0] for _, message in talk.progress]
    assert {"importing TensorFlow", "rehearsing with 1 change", "judging"} <= set(said)
    assert seconds == sorted(seconds)


def test_nothing_is_written_into_the_folder(talk: Talk) -> None:
    assert [file.name for file in talk.folder.iterdir()] == ["train.py"]
    assert (talk.folder / "train.py").read_text(encoding="utf-8") == SCRIPT


def test_nothing_but_the_protocol_is_on_stdout(talk: Talk) -> None:
    assert talk.faults == []


def test_a_cancelled_check_ends_its_processes(talk: Talk) -> None:
    assert len(talk.at_cancel) >= 2
    assert talk.after_cancel == set()


def test_errors_are_explained(talk: Talk) -> None:
    answer: dict[str, Any] = talk.answers["explain"].structured_content or {}
    assert answer["checks"] == []
    assert answer["errors"][0]["fix"] and "Fix" in talk.text("explain")


def test_what_a_client_can_cause_is_one_line(talk: Talk) -> None:
    for name, said in (
        ("outside", "outside"),
        ("unknown id", "TPU999: no check has this id"),
        ("write", "not started with --allow-write"),
    ):
        assert talk.answers[name].is_error
        assert said in talk.text(name) and "\n" not in talk.text(name)


def test_without_the_extra_one_line_says_so(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(name='mcp')\n")
    said = refused(started("mcp", env={"PYTHONPATH": str(tmp_path)}))
    assert "pip install 'tpudiag[mcp]'" in said


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    said = refused(started("mcp", "--folder", tmp_path / "none"))
    assert said.startswith("tpudiag: --folder ")
