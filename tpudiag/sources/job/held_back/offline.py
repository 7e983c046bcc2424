"""`--offline` if the system cannot isolate the network: Python's sockets refuse."""

import errno
import os
import socket
from typing import Any

from tpudiag.sources.job.held_back import request_rules
from tpudiag.sources.job.points import barrier, hooks, table

REFUSED = "no network: the job is rehearsed with --offline"
OFFLINE = "TPUDIAG_OFFLINE"
"""Set in the environment of child processes, whose sockets then refuse, too."""
_NOWHERE = "http://127.0.0.1:9"
"""The discard port, where no proxy answers: for C clients, which only know proxies."""
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy", "HTTPS_PROXY", "ALL_PROXY")


def install() -> None:
    """Allow connections to this machine only."""
    for name in _PROXIES:
        os.environ[name] = _NOWHERE
    for name in ("no_proxy", "NO_PROXY"):
        os.environ[name] = "localhost,127.0.0.1,::1"
    hooks.before(table.CONNECTED, _connected)
    hooks.before(table.ADDRESS_ASKED, _looked_up)


def _connected(sock: socket.socket, address: Any) -> None:
    inner = sock.family in (socket.AF_INET, socket.AF_INET6)
    if inner and (not request_rules.is_own(str(address[0])) or address[1] == 9):
        raise _refusal()


def _looked_up(host: object, *_: object, **__: object) -> None:
    name = host.decode() if isinstance(host, bytes) else host
    if name and not request_rules.is_own(str(name)):
        raise _refusal()


def _refusal() -> Exception:
    return barrier.for_job(OSError(errno.ENETUNREACH, REFUSED))
