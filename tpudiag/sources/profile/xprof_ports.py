"""Whether a server listens on XProf's usual ports: a cheap test before the full query."""

import socket
from collections.abc import Sequence
from typing import Any

LIMIT_S = 0.2
"""How long a connection on this machine may take."""


def listening(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses (`http://host:port`) at which a server accepts connections."""
    return tuple(address for address in addresses if _listens(address))


def _listens(address: str) -> bool:
    """Whether one of them accepts connections."""
    host, _, port = address.rpartition("/")[2].partition(":")
    try:
        # As bytes, which typeshed does not know: text would load the codecs of international names.
        where: Any = (host.encode(), int(port))
        with socket.create_connection(where, timeout=LIMIT_S):
            return True
    except OSError:
        return False
