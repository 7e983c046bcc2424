"""What /proc says of a process: command, loaded libraries, open devices, listening ports."""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tpudiag.sources.live.address import Address

PROC = Path("/proc")
_FRAMEWORKS = (
    ("TensorFlow", re.compile(r"(.*)/tensorflow/(?:libtensorflow_|python/.*_pywrap_tensorflow)")),
    ("JAX", re.compile(r"(.*)/jaxlib/")),
    ("PyTorch/XLA", re.compile(r"(.*)/(?:torch_xla/|_XLAC)")),
)
_HINT = re.compile(r"tensorflow/|jaxlib/|torch_xla/|_XLAC")
_OWNERS = {
    "TensorFlow": r"(?:tensorflow(?:_cpu|_tpu|_gpu|_intel|_rocm)?|tf_nightly(?:_cpu|_gpu)?)",
    "JAX": "jaxlib",
    "PyTorch/XLA": "torch_xla",
}
"""The distributions whose version is the framework's."""
_DEVICE = re.compile(r"/dev/(?:accel\d+|vfio/\d+)")
_SOCKET = re.compile(r"socket:\[(\d+)\]")
_LISTENING = "0A"


@dataclass(frozen=True, kw_only=True)
class Process:
    """A process that has a framework loaded or holds a TPU."""

    pid: int
    parent: int
    command: tuple[str, ...]
    framework: str | None
    devices: tuple[str, ...]
    listening: frozenset[Address]
    sockets: frozenset[int]
    """Inodes of its listening sockets: a forked child has those of its parent."""
    own_network: bool
    """Its network is not that of this process: a container's."""


@dataclass(frozen=True)
class Table:
    """The processes of this machine that matter, and who is whose child."""

    found: tuple[Process, ...]
    parents: dict[int, int]
    hidden: frozenset[int]
    """Python processes that this one has no right to look into."""

    def ancestors(self, pid: int) -> Iterator[int]:
        """From the parent up."""
        seen: set[int] = set()
        while (pid := self.parents.get(pid, 0)) and pid not in seen:
            seen.add(pid)
            yield pid


def table(proc: Path = PROC) -> Table:
    """Look at every process once; those that end meanwhile are left out."""
    found: list[Process] = []
    parents: dict[int, int] = {}
    hidden: set[int] = set()
    for folder in proc.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        try:
            parents[int(folder.name)] = _parent(folder)
            process = _process(folder, parents[int(folder.name)], proc)
        except PermissionError:
            if any("python" in Path(part).name for part in _command(folder)[:1]):
                hidden.add(int(folder.name))
        except OSError:
            continue
        else:
            found += [process] if process is not None else []
    return Table(tuple(sorted(found, key=lambda p: p.pid)), parents, frozenset(hidden))


def _process(folder: Path, parent: int, proc: Path) -> Process | None:
    """A process that matters, None for any other; raises OSError."""
    framework = _framework(folder)
    links = [_link(entry) for entry in (folder / "fd").iterdir()]
    devices = tuple(sorted({link for link in links if _DEVICE.fullmatch(link)}))
    if framework is None and not devices:
        return None
    inodes = {int(match[1]) for link in links if (match := _SOCKET.fullmatch(link))}
    listening = {inode: at for inode, at in _listening(folder) if inode in inodes}
    return Process(
        pid=int(folder.name),
        parent=parent,
        command=_command(folder),
        framework=framework,
        devices=devices,
        listening=frozenset(listening.values()),
        sockets=frozenset(listening),
        own_network=_link(folder / "ns" / "net") != _link(proc / "self" / "ns" / "net"),
    )


def _parent(folder: Path) -> int:
    """The pid of its parent; raises OSError."""
    stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
    return int(stat.rpartition(")")[2].split()[1])


def _command(folder: Path) -> tuple[str, ...]:
    """Its command line; empty for the kernel's threads and what is gone."""
    try:
        text = (folder / "cmdline").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ()
    return tuple(part for part in text.split("\0") if part)


def _framework(folder: Path) -> str | None:
    """Name and version of the training frameworks that are loaded; raises OSError.

    TensorFlow comes first: it imports JAX where that is installed, for its Lite converter.
    """
    places: dict[str, str] = {}
    with (folder / "maps").open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not _HINT.search(line):
                continue
            path = line[line.find("/") :].strip()
            for name, pattern in _FRAMEWORKS:
                if name not in places and (match := pattern.match(path)):
                    places[name] = match[1]
    return ", ".join(
        f"{name} {_version(folder, name, places[name])}".rstrip()
        for name, _ in _FRAMEWORKS
        if name in places
    ) or None  # fmt: skip


def _version(folder: Path, name: str, site: str) -> str:
    """The version in the name of the distribution's folder beside the library; else nothing."""
    try:
        beside = sorted(path.name for path in Path(f"{folder}/root{site}").iterdir())
    except OSError:
        return ""
    for entry in beside:
        if match := re.fullmatch(rf"{_OWNERS[name]}-(\d[^-]*)\.dist-info", entry):
            return match[1]
    return ""


def _listening(folder: Path) -> Iterator[tuple[int, Address]]:
    """Inode and address of every listening TCP socket in the process's network."""
    for name in ("tcp", "tcp6"):
        try:
            lines = (folder / "net" / name).read_text(encoding="ascii").splitlines()[1:]
        except OSError:
            continue
        for line in lines:
            fields = line.split()
            if fields[3] == _LISTENING:
                yield int(fields[9]), _address(fields[1])


def _address(text: str) -> Address:
    """The kernel's `0100007F:1F90` as an address to connect to."""
    host, _, port = text.partition(":")
    words = [host[at : at + 8] for at in range(0, len(host), 8)]
    raw = b"".join(bytes.fromhex(word)[::-1] for word in words)
    if not any(raw):
        return Address("localhost", int(port, 16))
    family = socket.AF_INET if len(raw) == 4 else socket.AF_INET6
    return Address(socket.inet_ntop(family, raw), int(port, 16))


def _link(path: Path) -> str:
    """Where a link points; nothing where it is gone."""
    try:
        return str(path.readlink())
    except FileNotFoundError:
        return ""
