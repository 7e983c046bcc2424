"""TCP sockets from /proc, and which process holds one.

Several processes may listen on one port (SO_REUSEPORT, which gRPC sets): the kernel assigns each
connection to one of them, and only the accepted socket shows to which.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from tpudiag.sources.live.address import Address

PROC = Path("/proc")
ANYWHERE = "localhost"
"""The address of a socket that listens on all interfaces."""
_SOCKET = re.compile(r"socket:\[(\d+)\]")


class SocketState(Enum):
    """A connection's state, by the kernel's number for it (include/net/tcp_states.h)."""

    ESTABLISHED = 1
    LISTENING = 10
    OTHER = -1

    @classmethod
    def _missing_(cls, value: object) -> SocketState:  # noqa: ARG003
        """All other states: opening or closing."""
        return cls.OTHER


@dataclass(frozen=True)
class Socket:
    """A TCP socket of a network; `inode` is 0 for a connection not yet accepted."""

    inode: int
    local: Address
    remote_port: int
    state: SocketState


def sockets(process: Path) -> Iterator[Socket]:
    """Every TCP socket in the network of a process (`/proc/PID`)."""
    for name in ("tcp", "tcp6"):
        try:
            lines = (process / "net" / name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            remote_port = int(fields[2].rpartition(":")[2], 16)
            yield Socket(
                int(fields[9]), _address(fields[1]), remote_port, SocketState(int(fields[3], 16))
            )


def inodes(links: Iterable[str]) -> frozenset[int]:
    """The sockets among a process's descriptors."""
    return frozenset(int(match[1]) for link in links if (match := _SOCKET.fullmatch(link)))


def held_by(process: Path) -> frozenset[int]:
    """The sockets of a process; raises OSError where it may not be inspected."""
    return inodes(link_of(entry) for entry in (process / "fd").iterdir())


def overlap(one: Address, other: Address) -> bool:
    """Whether a connection to one of them may be accepted at the other."""
    alike = one.host == other.host or ANYWHERE in (one.host, other.host)
    return one.port == other.port and alike


def connections_to(port: int, proc: Path = PROC) -> frozenset[int]:
    """The local ports of this process's own connections to a port."""
    own = proc / "self"
    held = held_by(own)
    return frozenset(
        each.local.port
        for each in sockets(own)
        if each.remote_port == port and each.state is SocketState.ESTABLISHED and each.inode in held
    )


def accepted(pid: int, port: int, client_port: int, proc: Path = PROC) -> bool:
    """Whether this process accepted the connection from a local port to its port."""
    process = proc / str(pid)
    try:
        held = held_by(process)
    except OSError:
        return False
    return any(
        each.local.port == port and each.remote_port == client_port and each.inode in held
        for each in sockets(process)
        # A queued connection has no owner yet: its inode is 0.
        if each.inode
    )


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
