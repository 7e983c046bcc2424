"""Facts of a process from /proc: its user, command, libraries, packages, devices and ports."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib.metadata import Distribution, distributions
from itertools import pairwise
from pathlib import Path

from tpudiag.sources.live.address import Address
from tpudiag.sources.live.cgroups import text
from tpudiag.sources.live.sockets import PROC, Socket, inodes, link_of, listening, overlap

_UIDS = re.compile(r"^Uid:\s*(\d+)\s+(\d+)\s+(\d+)\s+(\d+)$", re.MULTILINE)


def owner(pid: int, proc: Path = PROC) -> int | None:
    """The one user of a process; None where it has several, or is gone."""
    status = text(proc / str(pid) / "status")
    # Real, effective, saved and file system user: a process with several has no owner.
    users = {int(user) for match in _UIDS.finditer(status) for user in match.groups()}
    return users.pop() if len(users) == 1 else None


def is_own(pid: int) -> bool:
    """Whether a process is this user's: pids of recordings, which anybody writes, may not be."""
    return owner(pid) == os.geteuid()


def package(folder: Path | str, *names: str) -> Distribution | None:
    """The first of the named packages in a folder; None where there is none."""
    for name in names:
        with suppress(OSError):
            for found in distributions(name=name, path=[str(folder)]):
                return found
    return None


_JAXLIB, _LIBTPU = re.compile(r"(/.*)/jaxlib/"), re.compile(r"(/.*)/libtpu/libtpu\.so")
_ASKED = re.compile(r"libtpu *\(?== *([\d.]+?)(?:\.\*)?\)? *;.*\btpu\b")


def crash_feared(root: Path, mapped: Sequence[str]) -> str:
    """Why a capture could crash the process that has these files mapped; empty where it is safe.

    `root` is the process's root folder.
    """
    jax, libtpu = _folder(_JAXLIB, mapped), _folder(_LIBTPU, mapped)
    if not jax or not libtpu:
        return ""
    loaded, by = package(f"{root}{libtpu}", "libtpu"), package(f"{root}{jax}", "jax")
    lines = (by.requires or ()) if by is not None else ()
    asked = next((found for line in lines if (found := _ASKED.match(line))), None)
    # With dots at both ends, so that 0.0.5 does not match 0.0.51.
    if by is None or loaded is None or not asked or f"{loaded.version}.".startswith(f"{asked[1]}."):
        return ""
    return (
        f"a capture could crash it: JAX {by.version} goes with libtpu {asked[1]}, and another is "
        f"loaded, {loaded.version} (its profiler ends in `Unexpected PLUGIN_Profiler_Api size` "
        f"and SIGSEGV); pip install 'jax[tpu]=={by.version}' there; --force captures all the same"
    )


def _folder(pattern: re.Pattern[str], mapped: Sequence[str]) -> str:
    """The package folder of the first mapped file that matches; empty where none does."""
    return next((match[1] for path in mapped if (match := pattern.match(path))), "")


_FRAMEWORKS = (
    ("TensorFlow", re.compile(r"(.*)/tensorflow/(?:libtensorflow_|python/.*_pywrap_tensorflow)")),
    ("JAX", re.compile(r"(.*)/jaxlib/")),
    ("PyTorch/XLA", re.compile(r"(.*)/(?:torch_xla/|_XLAC)")),
)
# Checked first: /proc/PID/maps of a trainer has thousands of lines, and three full patterns per
# line would be slow.
_HINT = re.compile(r"tensorflow/|jaxlib/|torch_xla/|_XLAC|libtpu/")
_OWNERS = {
    "TensorFlow": (
        *(f"tensorflow{build}" for build in ("-tpu", "-cpu", "-gpu", "-intel", "-rocm", "")),
        *(f"tf-nightly{build}" for build in ("-cpu", "-gpu", "")),
    ),
    "JAX": ("jaxlib",),
    "PyTorch/XLA": ("torch-xla",),
}
"""The distributions whose version is the framework's."""
_DEVICE = re.compile(r"/dev/(?:accel\d+|vfio/\d+)")
_OURS = re.compile(
    r".*/tpudiag/sources/(?:job/process|compiler|profile)/\w+\.py|.*/bin/tpudiag|-m tpudiag"
)
"""Our scripts that load a framework, and the tool itself."""


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
    """Inodes of its listening sockets: a forked child has its parent's."""
    own_network: bool
    """Whether its network is another than this process's: a container's."""
    stopped: bool = False
    """Whether it is stopped: by SIGSTOP, Ctrl-Z or a debugger."""
    unfit: str = ""
    """Why a capture could crash it."""
    shared: tuple[tuple[Address, tuple[int, ...]], ...] = ()
    """Addresses where others listen too, by their own sockets; pid 0 is unknown."""

    def rivals(self, at: Address) -> tuple[int, ...]:
        """The others that listen at one of its addresses."""
        return next((pids for address, pids in self.shared if address == at), ())

    @property
    def ours(self) -> bool:
        """Whether it is tpudiag itself, or a script that it runs."""
        # The interpreter comes first, its options before the script.
        words = self.command[1:5]
        pairs = [" ".join(pair) for pair in pairwise(words)]
        return any(_OURS.fullmatch(word) for word in (*words[:3], *pairs))


@dataclass(frozen=True)
class Table:
    """The relevant processes of this machine, and their parents."""

    found: tuple[Process, ...]
    parents: dict[int, int]
    hidden: frozenset[int]
    """Python processes that this one may not inspect."""

    def above(self, process: Process) -> list[Process]:
        """Those of a process's ancestors that are relevant, the nearest first."""
        by_pid = {each.pid: each for each in self.found}
        return [by_pid[pid] for pid in self.ancestors(process.pid) if pid in by_pid]

    def ancestors(self, pid: int) -> Iterator[int]:
        """From the parent upwards."""
        seen: set[int] = set()
        while (pid := self.parents.get(pid, 0)) and pid not in seen:
            seen.add(pid)
            yield pid


def table(proc: Path = PROC) -> Table:
    """Read every process once; those that end meanwhile are skipped.

    Empty on a machine without /proc, which can still attach to trainers elsewhere.
    """
    if not proc.is_dir():
        return Table((), {}, frozenset())
    entries: list[tuple[Process, tuple[Socket, ...]]] = []
    parents: dict[int, int] = {}
    hidden: set[int] = set()
    holders: dict[int, int] = {}
    for folder in proc.iterdir():
        if not folder.name.isdigit() or int(folder.name) == os.getpid():
            continue
        pid = int(folder.name)
        try:
            stat = (folder / "stat").read_text(encoding="utf-8", errors="replace")
            # The name may hold spaces and brackets: read from behind the last bracket.
            state, parent = stat.rpartition(")")[2].split()[:2]
            parents[pid], stopped = int(parent), state in ("T", "t")
            # Sockets in /proc/net/tcp carry an inode but no pid; the descriptors show who holds it.
            links = [link_of(entry) for entry in (folder / "fd").iterdir()]
            holders.update(dict.fromkeys(inodes(links), pid))
            seen = _process(folder, parents[pid], links, proc)
        except PermissionError:
            if any("python" in Path(part).name for part in _command(folder)[:1]):
                hidden.add(pid)
        except OSError:
            continue
        else:
            entries += [(replace(seen[0], stopped=stopped), seen[1])] if seen is not None else []
    processes = [replace(one, shared=tuple(_shared(one, rows, holders))) for one, rows in entries]
    return Table(tuple(sorted(processes, key=lambda p: p.pid)), parents, frozenset(hidden))


def _process(
    folder: Path, parent: int, links: list[str], proc: Path
) -> tuple[Process, tuple[Socket, ...]] | None:
    """A relevant process, and the listeners of its network; None for any other.

    Raises OSError.
    """
    with (folder / "maps").open(encoding="utf-8", errors="replace") as lines:
        paths = (line[line.find("/") :].strip() for line in lines if _HINT.search(line))
        mapped = tuple(dict.fromkeys(paths))
    framework = _framework(folder, mapped)
    devices = tuple(sorted({link for link in links if _DEVICE.fullmatch(link)}))
    if framework is None and not devices:
        return None
    held = inodes(links)
    rows = tuple(listening(folder))
    own = [each for each in rows if each.inode in held]
    process = Process(
        pid=int(folder.name),
        parent=parent,
        command=_command(folder),
        framework=framework,
        devices=devices,
        listening=frozenset(each.local for each in own),
        sockets=frozenset(each.inode for each in own),
        unfit=crash_feared(folder / "root", mapped) if (framework or "").startswith("JAX") else "",
        # In a container `localhost:6009` is another port: the address holds only inside its
        # network.
        own_network=link_of(folder / "ns" / "net") != link_of(proc / "self" / "ns" / "net"),
    )
    return process, rows


def _shared(
    process: Process, rows: tuple[Socket, ...], holders: dict[int, int]
) -> Iterator[tuple[Address, tuple[int, ...]]]:
    for at in sorted(process.listening):
        others = {
            holders.get(each.inode, 0)
            for each in rows
            if each.inode not in process.sockets and overlap(at, each.local)
        }
        if others:
            yield at, tuple(sorted(others))


def _command(folder: Path) -> tuple[str, ...]:
    """Its command line; empty for kernel threads and dead processes."""
    return tuple(part for part in text(folder / "cmdline").split("\0") if part)


def _framework(folder: Path, mapped: tuple[str, ...]) -> str | None:
    """Name and version of the loaded training frameworks.

    TensorFlow comes first: it imports an installed JAX for its Lite converter.
    """
    places: dict[str, str] = {}
    for path in mapped:
        for name, pattern in _FRAMEWORKS:
            if name not in places and (match := pattern.match(path)):
                places[name] = match[1]
    named: list[str] = []
    for name in (name for name, _ in _FRAMEWORKS if name in places):
        found = package(f"{folder}/root{places[name]}", *_OWNERS[name])
        named.append(f"{name} {found.version}" if found is not None else name)
    return ", ".join(named) or None
