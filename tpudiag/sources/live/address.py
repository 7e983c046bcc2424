"""Addresses of trainers: HOST:PORT, with or without grpc://, [::1]:PORT for IPv6."""

import re
from dataclasses import dataclass

from tpudiag.errors import UsageError

_FORM = re.compile(
    r"(?:grpc://)?(?:\[(?P<six>[0-9A-Fa-f:.%\w]+)\]|(?P<host>[^:/\[\]\s]+)):(?P<port>\d+)"
)
_SECURE = re.compile(r"(?:https|grpcs)://", re.IGNORECASE)


@dataclass(frozen=True, order=True)
class Address:
    """The address of a profiler service."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def file_name(self) -> str:
        """The name of its file in a run folder, without ending."""
        # XProf takes the file's name for the host's.
        return re.sub(r"[^A-Za-z0-9_.-]", "-", f"{self.host}_{self.port}")


def addresses(text: str) -> tuple[Address, ...]:
    """`a:9012,b:9012` as addresses; raises UsageError."""
    return tuple(_address(part.strip()) for part in text.split(",") if part.strip())


def _address(text: str) -> Address:
    if _SECURE.match(text):
        raise UsageError(f"{text}: the profiler service has no TLS; give HOST:PORT")
    match = _FORM.fullmatch(text)
    if match is None:
        raise UsageError(f"{text}: neither HOST:PORT nor the pid of a process")
    port = int(match["port"])
    if not 0 < port < 65536:
        raise UsageError(f"{text}: no port has the number {port}")
    return Address(match["six"] or match["host"], port)
