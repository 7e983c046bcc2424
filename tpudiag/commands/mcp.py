"""Serves check, fix, read, plan, compare and explain to an agent or editor.

Over the Model Context Protocol on stdin and stdout (the extra `mcp`).
"""

import argparse
import os
import signal
from pathlib import Path

from tpudiag.errors import MissingExtra, UsageError

MISSING = "the SDK of the Model Context Protocol is not installed: pip install 'tpudiag[mcp]'"
EPILOG = """\
An agent starts it by its own configuration, in the project's folder; docs/agents.md has examples.
stdin and stdout speak the protocol. The server opens nothing outside the folder, and only `fix`
under --allow-write changes files in it: a rehearsed script's writes are discarded.
"""


def run(options: argparse.Namespace) -> int:
    """Serve until the client is gone; raises MissingExtra and UsageError."""
    if not options.folder.is_dir():
        raise UsageError(f"--folder {options.folder}: no such folder")
    try:
        from tpudiag.mcp_server import server
    except ImportError as error:
        # Any other missing module is our defect, which no extra would fix.
        if (error.name or "").split(".")[0] not in ("mcp", "anyio", "pydantic"):
            raise
        raise MissingExtra(MISSING) from error
    for number in (signal.SIGINT, signal.SIGTERM):
        # At once: workers notice that the server is gone, and end their jobs.
        signal.signal(number, lambda got, _: os._exit(128 + got))
    os.chdir(options.folder)
    server.serve(Path.cwd(), options.python, may_write=options.allow_write)
    return 0
