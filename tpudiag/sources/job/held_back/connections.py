"""Connections by unknown protocols: allowed, but reported; with `--offline` refused.

To the system, reading a database looks like writing one. Protocols that are judged by their content
(HTTP, mail, FTP) are left out.
"""

import errno
import os
import socket
from collections.abc import Callable
from typing import Any

from tpudiag.signals import SendKind
from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.points import barrier, hooks, table, user_lines

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


REFUSED = "no network: the job is rehearsed with --offline"
OFFLINE = "TPUDIAG_OFFLINE"
"""Set in the environment of child processes, whose sockets then refuse, too."""
_NOWHERE = "http://127.0.0.1:9"
"""The discard port, where no proxy answers: for C clients, which only know proxies."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "HTTPS_PROXY", "ALL_PROXY")


def refuse() -> None:
    """Allow connections to this machine only, where the system cannot isolate the network."""
    for name in _PROXIES:
        os.environ[name] = _NOWHERE
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = "localhost,127.0.0.1,::1"
    hooks.before(table.CONNECTED, _connected)
    hooks.before(table.ADDRESS_ASKED, _looked_up)


def _connected(sock: socket.socket, address: Any) -> None:
    if sock.family in _INTERNET and (not request_rules.is_own(str(address[0])) or address[1] == 9):
        raise _refusal()


def _looked_up(host: object, *_: object, **__: object) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name and not request_rules.is_own(str(name)):
        raise _refusal()


def _refusal() -> Exception:
    return barrier.for_job(OSError(errno.ENETUNREACH, REFUSED))
