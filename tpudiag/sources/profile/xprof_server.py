"""A running XProf, or a TensorBoard with its plugin: whether it shows a profile, and where.

Its front end opens a page by `?tool=...&run=...#profile`; the trace viewer alone takes a time
range, in `view_start` and `view_end` (ms since the capture began), and has a page of its own.
"""

import json
import socket
import zlib
from collections.abc import Generator, Sequence
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from threading import Timer
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from tpudiag.errors import UsageError
from tpudiag.records import dataclass
from tpudiag.sources.profile.locate import ENDING, Run
from tpudiag.xprof_pages import USUAL_SERVERS

USUAL_LIMIT_S, LIMIT_S = 0.5, 10.0
"""Time limits of an answer: at the usual addresses, and where the user named the server."""
PLUGIN = "/data/plugin/profile"
MOST_BYTES = 1 << 20
"""Limit of an answer, packed and unpacked: a list of runs and hosts is shorter."""
GZIP = 16 + zlib.MAX_WBITS
"""Lets zlib accept gzip data."""
TRACE_VIEWER = "trace_viewer@"


@dataclass(frozen=True, kw_only=True)
class XProfServer:
    """A server that shows the current profile."""

    address: str
    """Without a slash at its end."""
    run: str
    """The profile's name on the server."""
    hosts: tuple[str, ...]

    def page(self, tool: str) -> str:
        """The page of a tool, such as `op_profile`."""
        return f"{self.address}/?{urlencode({'tool': tool, 'run': self.run})}#profile"

    def moment(self, host: str, start_ms: float, end_ms: float) -> str:
        """The trace of a host between two times, ms since the capture began."""
        prefix = urlsplit(self.address).path + PLUGIN
        query = urlencode({"run": self.run, "tag": TRACE_VIEWER, "host": host}, quote_via=quote)
        shown = {
            "is_streaming": "true",
            "is_oss": "true",
            "trace_data_url": f"{prefix}/data?{query}",
            "view_start": f"{start_ms:.3f}",
            "view_end": f"{end_ms:.3f}",
        }
        return f"{self.address}{PLUGIN}/trace_viewer_index.html?{urlencode(shown)}"


def showing(addresses: Sequence[str], run: Run, limit_s: float = LIMIT_S) -> XProfServer | None:
    """The first server that shows the run; None where none does.

    Raises UsageError for an address that is no URL.
    """
    for address in addresses:
        refuse_odd(address)
    servers = (_showing(address.rstrip("/"), run, limit_s) for address in addresses)
    return next(filter(None, servers), None)


def refuse_odd(address: str) -> None:
    """Raise UsageError for what is no URL of a server."""
    try:
        parts = urlsplit(address)
        is_url = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # half a bracket, a port that is none
        is_url = False
    if not is_url:
        raise UsageError(f"--xprof {address}: not a URL such as {USUAL_SERVERS[0]}")


def _showing(address: str, run: Run, limit_s: float) -> XProfServer | None:
    """The server at an address, where it has a run of this name with the same hosts."""
    last = Path(run.folder).name
    named = [
        name for name in _listed(address, "runs", {}, limit_s) if name.rpartition("/")[2] == last
    ]
    exact = [name for name in named if name == run.name] or named
    if len(exact) != 1:
        return None
    hosts = tuple(_listed(address, "hosts", {"run": exact[0], "tag": TRACE_VIEWER}, limit_s))
    files = {Path(file).name.removesuffix(ENDING) for file in run.files}
    if not files <= set(hosts):
        return None  # another profile of the same name
    return XProfServer(address=address, run=exact[0], hosts=hosts)


def _listed(address: str, what: str, query: dict[str, str], limit_s: float) -> list[str]:
    """Names that a route of the plugin lists; none where the answer is not XProf's."""
    where = urlsplit(address)
    kind = HTTPSConnection if where.scheme == "https" else HTTPConnection
    try:
        connection = kind(where.hostname or "", where.port, timeout=limit_s)
        with closing(connection), _until(connection, limit_s):
            connection.request("GET", f"{where.path}{PLUGIN}/{what}?{urlencode(query)}")
            response = connection.getresponse()
            body = response.read(MOST_BYTES)
        if response.getheader("Content-Encoding") == "gzip":  # it asks nobody whether it may
            body = zlib.decompressobj(GZIP).decompress(body, MOST_BYTES)
        answer: object = json.loads(body)
    except (OSError, HTTPException, ValueError, RecursionError, zlib.error):
        return []
    items: list[Any] = answer if isinstance(answer, list) else []  # pyright: ignore
    # Runs are names, hosts objects with one.
    names: list[Any] = [i.get("hostname") if isinstance(i, dict) else i for i in items]  # pyright: ignore
    return [name for name in names if isinstance(name, str)]


@contextmanager
def _until(connection: HTTPConnection, limit_s: float) -> Generator[None, None, None]:
    """Connect, and close the connection when time is over: a timeout limits single reads only."""
    connection.connect()
    opened = connection.sock

    def end() -> None:
        with suppress(OSError):
            opened.shutdown(socket.SHUT_RDWR)

    timer = Timer(limit_s, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
