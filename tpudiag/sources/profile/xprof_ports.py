"""Whether anybody listens where XProf mostly serves: asked before what it takes to ask more."""

import socket
from collections.abc import Sequence
from typing import Any

LIMIT_S = 0.2
"""How long a connection on this machine may take."""


def listening(addresses: Sequence[str]) -> tuple[str, ...]:
    """Those of some `http://host:port` at which a server takes connections."""
    return tuple(address for address in addresses if _listens(address))


def _listens(address: str) -> bool:
    """Whether one of them does."""
    host, _, port = address.rpartition("/")[2].partition(":")
    try:
        # As bytes, which typeshed does not know: text loads the tables of international names.
        where: Any = (host.encode(), int(port))
        with socket.create_connection(where, timeout=LIMIT_S):
            return True
    except OSError:
        return False
