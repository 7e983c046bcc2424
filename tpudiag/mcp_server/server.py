"""The server: tools over stdio, by the SDK of the Model Context Protocol."""

import json
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream
from mcp import types
from mcp.server import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from tpudiag.errors import TpudiagError, UsageError
from tpudiag.mcp_server.folder import Folder, held
from tpudiag.mcp_server.tools import TOOLS, Tool, tool
from tpudiag.sanitized import one_line
from tpudiag.version import __version__

# -P: the worker runs in the user's folder, whose modules would else hide those that it imports.
WORKER = (sys.executable, "-P", "-m", "tpudiag.mcp_server.worker")
GRACE_S = 20.0
"""How long a worker whose call was cancelled may take to end its own children."""
LARGEST_BYTES = 256_000_000
"""Of one line: a whole report of a long profile."""

OnPhase = Callable[[str], Awaitable[None]]


async def answered(request: dict[str, Any], folder: Path, on_phase: OnPhase) -> dict[str, Any]:
    """What a worker says to a request; cancelled or too slow, it is ended with all it started."""
    process = await anyio.open_process(
        WORKER, stderr=sys.stderr, cwd=folder, start_new_session=True
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        await process.stdin.send(json.dumps(request).encode() + b"\n")
        limit = tool(request["tool"]).limit_s
        with anyio.move_on_after(limit):
            return await _heard(process, BufferedByteReceiveStream(process.stdout), on_phase)
        return {"error": f"{request['tool']} took more than {limit:g} s and was ended"}
    finally:
        # A cancelled task cannot wait for anything else, and a worker needs seconds to end its job.
        with anyio.CancelScope(shield=True):
            await _end(process)


async def _heard(
    process: Process, lines: BufferedByteReceiveStream, on_phase: OnPhase
) -> dict[str, Any]:
    while True:
        try:
            line = await lines.receive_until(b"\n", LARGEST_BYTES)
        except (anyio.IncompleteRead, anyio.EndOfStream, anyio.ClosedResourceError):
            return {"error": f"the worker died: {await _end(process)}"}
        message: dict[str, Any] = json.loads(line)
        if "phase" not in message:
            return message
        await on_phase(message["phase"])


async def _end(process: Process) -> str:
    """End a worker; how it ended."""
    # The end of its stdin is the worker's word to stop: it ends its job and clears its folders,
    # which a signal would not let it do.
    if process.stdin is not None:
        with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
            await process.stdin.aclose()
    with anyio.move_on_after(GRACE_S):
        await process.wait()
    if process.returncode is None:
        with suppress(ProcessLookupError):
            process.kill()
        await process.wait()
    code = process.returncode or 0
    await process.aclose()
    return f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"


INSTRUCTIONS = (
    "tpudiag finds what is wrong with a TensorFlow training job on TPU. `check` rehearses a "
    "script on this machine's CPU as if the TPU were there: it takes a minute or more, reports "
    "progress and can be cancelled. Verdicts: passed needs evidence; skipped means not measured, "
    "never healthy. Each finding has a message, evidence, the user's line and a fix; `fix` proves "
    "changes by rehearsing them, as a diff. "
    "Paths are relative to {folder}; nothing outside it is opened."
)
READ_ONLY = (
    "fix: this server changes no file (it was not started with --allow-write): call it without "
    "`write` and apply the diff of the answer"
)
BEAT_S = 5.0
"""How often a long call says that it goes on, which keeps clients from giving up."""


@dataclass
class Verbs:
    """Answers a client's requests, one diagnosis at a time: each takes what cores there are."""

    folder: Folder
    python: str | None
    may_write: bool

    def __post_init__(self) -> None:
        self._turn = anyio.Lock()

    async def listed(
        self, context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        """The tools."""
        del context, params
        return types.ListToolsResult(tools=[_described(each, self.may_write) for each in TOOLS])

    async def called(
        self, context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        """One tool's answer; what a client can cause is an error in one line."""
        try:
            request = self.request(params.name, params.arguments)
        except TpudiagError as error:
            return _failed(one_line(str(error)))
        answer = await self._answered(request, context)
        if "error" in answer:
            return _failed(answer["error"])
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer["text"])],
            structured_content=answer["result"],
        )

    def request(self, name: str, given: dict[str, Any] | None) -> dict[str, Any]:
        """The request to the worker: validated arguments, with paths confined to the folder."""
        arguments = held(name, tool(name).read(given), self.folder)
        if tool(name).writes and arguments["write"] and not self.may_write:
            raise UsageError(READ_ONLY)
        return {"tool": name, "arguments": arguments, "python": self.python}

    async def _answered(
        self, request: dict[str, Any], context: ServerRequestContext[Any]
    ) -> dict[str, Any]:
        """The worker's answer; until then the client hears each phase, and that it goes on."""
        started, phase = anyio.current_time(), "starting"

        async def tell(now: str) -> None:
            nonlocal phase
            phase, passed_s = now, anyio.current_time() - started
            await context.session.report_progress(passed_s, message=f"{now} ({passed_s:.0f} s)")

        async def beat() -> None:
            while True:
                await anyio.sleep(BEAT_S)
                await tell(phase)

        answer: dict[str, Any] = {}
        async with anyio.create_task_group() as group:
            group.start_soon(beat)
            answer = await self._in_turn(request, tell)
            group.cancel_scope.cancel()
        return answer

    async def _in_turn(self, request: dict[str, Any], on_phase: OnPhase) -> dict[str, Any]:
        """The worker's answer, after those to earlier requests."""
        # It starts no job: there is no reason to wait for a rehearsal of minutes.
        if request["tool"] == "explain":
            return await answered(request, self.folder.top, on_phase)
        if self._turn.locked():
            await on_phase("waiting for the diagnosis that is under way")
        async with self._turn:
            return await answered(request, self.folder.top, on_phase)


def serve(top: Path, python: str | None = None, *, may_write: bool = False) -> None:
    """Serve stdin and stdout until the client is gone."""
    anyio.run(_serve, Verbs(Folder(top), python, may_write))


async def _serve(verbs: Verbs) -> None:
    server: Server[Any] = Server(
        "tpudiag",
        version=__version__,
        instructions=INSTRUCTIONS.format(folder=verbs.folder.top),
        on_list_tools=verbs.listed,
        on_call_tool=verbs.called,
    )
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _described(each: Tool, may_write: bool) -> types.Tool:
    return types.Tool(
        name=each.name,
        title=each.title,
        description=each.description,
        input_schema=each.input_schema,
        output_schema=each.output_schema,
        annotations=types.ToolAnnotations(
            # What a user's script does while it runs is not ours to promise.
            read_only_hint=not (each.writes or each.runs_code),
            destructive_hint=each.writes and may_write,
            idempotent_hint=True,
            open_world_hint=each.runs_code,
        ),
    )


def _failed(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(type="text", text=text)], is_error=True)
