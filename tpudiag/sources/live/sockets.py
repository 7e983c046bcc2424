"""The TCP sockets that listen, as /proc shows them, and which process holds one."""

import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.sources.live.address import Address

PROC = Path("/proc")
ANYWHERE = "localhost"
"""How the address of a socket is written that listens on all interfaces."""
LISTENS = "0A"
"""The kernel's number for it (include/net/tcp_states.h)."""
_SOCKET = re.compile(r"socket:\[(\d+)\]")


@dataclass(frozen=True)
class Socket:
    """A TCP socket of a network that listens."""

    inode: int
    local: Address


def listening(process: Path) -> Iterator[Socket]:
    """The TCP sockets that listen in the network of a process (`/proc/PID`)."""
    for name in ("tcp", "tcp6"):
        try:
            lines = (process / "net" / name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == LISTENS:
                yield Socket(int(fields[9]), _address(fields[1]))


def inodes(links: Iterable[str]) -> frozenset[int]:
    """The sockets among a process's descriptors."""
    return frozenset(int(match[1]) for link in links if (match := _SOCKET.fullmatch(link)))


def overlap(one: Address, other: Address) -> bool:
    """Whether a connection to one of them may be accepted at the other."""
    alike = one.host == other.host or ANYWHERE in (one.host, other.host)
    return one.port == other.port and alike


def _address(text: str) -> Address:
    """The kernel's `0100007F:1F90` as an address to connect to."""
    host, _, port = text.partition(":")
    words = [host[at : at + 8] for at in range(0, len(host), 8)]
    # The kernel prints each word of 32 bits in its own byte order.
    raw = b"".join(bytes.fromhex(word)[::-1] for word in words)
    if not any(raw):
        return Address(ANYWHERE, int(port, 16))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    return Address(socket.inet_ntop(family, raw), int(port, 16))


def link_of(path: Path) -> str:
    """Where a link points; nothing where it is gone."""
    try:
        return str(path.readlink())
    except FileNotFoundError:
        return ""
