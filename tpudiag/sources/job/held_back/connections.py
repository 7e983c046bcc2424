"""Connections by unknown protocols: allowed, but reported.

To the system, reading a database looks like writing one. Protocols that are judged by their content
(HTTP, mail, FTP) are left out.
"""

import socket
from collections.abc import Callable
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.points import hooks, table, user_lines

_JUDGED = {
    *("http", "urllib3", "httpcore", "httpcore2", "aiohttp", "smtplib", "ftplib"),
    *("asyncio", "anyio", "trio", "uvloop"),
}
"""Modules whose requests are judged, and those that connect for others, where it is unknown for
whom."""
_ASKS_FOR_NAMES = 53
_INTERNET = (socket.AF_INET, socket.AF_INET6)


def watch(note: Callable[[SendKind, str], None]) -> None:
    """Hook the connects of Python's sockets, and their sends without a connection."""

    def leads(sock: socket.socket, *args: Any) -> None:
        """A socket gets an address, the last argument: report another machine."""
        address = args[-1]
        if sock.family not in _INTERNET:
            return
        host, port = str(address[0]), int(address[1])
        if port != _ASKS_FOR_NAMES and not request_rules.is_own(host) and not _judged():
            note(SendKind.UNJUDGED, f"{host}:{port}")

    hooks.before(table.CONNECTED, leads)
    hooks.before(table.SENT_UNCONNECTED, leads)


def _judged() -> bool:
    """Whether the connection is made by a module whose requests are judged."""
    modules = (str(frame.f_globals.get("__name__")) for frame in user_lines.frames())
    return any(module.partition(".")[0] in _JUDGED for module in modules)
