"""Starts a worker for one call, hears it, and ends it where nobody waits any more."""

import json
import signal
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import Process
from anyio.streams.buffered import BufferedByteReceiveStream

from tpudiag.mcp_server.tools import tool

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
