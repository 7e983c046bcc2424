"""The trainers of this machine: owners of an accelerator and of a profiler's port."""

import os
import shlex
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tpudiag.errors import NothingDiagnosed
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.host_stacks import missing_right
from tpudiag.sources.live.probe import probe_all
from tpudiag.sources.live.processes import Process, Table, table
from tpudiag.sources.live.sockets import ANYWHERE, PROC, overlap

PROBE_LIMIT_S = 2.0


@dataclass(frozen=True)
class Trainer:
    """A process that trains, or may: a framework is loaded, or it holds a TPU."""

    process: Process
    profilers: tuple[Address, ...]

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def command(self) -> str:
        """Its command line, as a shell would take it."""
        return shlex.join(self.process.command)


@dataclass(frozen=True)
class Machine:
    """The trainers of this machine, and the processes that could not be inspected."""

    trainers: tuple[Trainer, ...]
    processes: Table
    ours: tuple[Trainer, ...] = ()
    """Those run by tpudiag itself, to which nobody wants to attach."""


def look(proc: Path = PROC) -> Machine:
    """Find the trainers, and probe each port that they listen on for a profiler.

    A trainer that stands still answers nothing, and is not asked; nor is a port at which several
    processes listen, for anyone of them may answer.
    """
    processes = table(proc)
    owners = [p for p in processes.found if not _is_fork(p, processes)]
    # Tpudiag itself, or what runs in a job of a `tpudiag check`.
    ours = {p.pid for p in owners if p.ours or any(each.ours for each in processes.above(p))}
    ports = {
        p.pid: tuple(at for at in sorted(p.listening) if not p.rivals(at))
        for p in owners
        if not (p.own_network or p.stopped or p.pid in ours)
    }
    candidates = sorted({at for each in ports.values() for at in each})
    # A trainer also listens for its cluster, TensorBoard or a debugger: only the profiler's port
    # counts.
    answered = {p.address for p in probe_all(candidates, PROBE_LIMIT_S) if p.fault is None}
    trainers = [
        Trainer(p, tuple(at for at in ports.get(p.pid, ()) if at in answered)) for p in owners
    ]
    return Machine(
        tuple(t for t in trainers if t.pid not in ours),
        processes,
        tuple(t for t in trainers if t.pid in ours),
    )


def _is_fork(process: Process, processes: Table) -> bool:
    """Whether it is a forked worker, which holds only what its ancestor holds."""
    # multiprocessing and tf.data's service fork: the child holds the parent's sockets, and would be
    # listed as a second trainer on the same port.
    return any(
        process.command == other.command
        and process.sockets <= other.sockets
        and set(process.devices) <= set(other.devices)
        for other in processes.above(process)
    )


def of_pid(pid: int, machine: Machine) -> tuple[Trainer, ...]:
    """The trainers of a pid: itself, or those that it launched.

    Raises NothingDiagnosed, with the reason, where there is none.
    """
    if pid not in machine.processes.parents:
        raise NothingDiagnosed(f"{pid}: no process has this pid")
    if any(t.pid == pid for t in machine.ours):
        raise NothingDiagnosed(f"{pid}: is tpudiag itself, or a job that it runs")
    itself = [t for t in machine.trainers if t.pid == pid]
    below = [t for t in machine.trainers if pid in machine.processes.ancestors(t.pid)]
    owner = [t for t in machine.trainers if t.pid in machine.processes.ancestors(pid)][:1]
    forked_from = owner if any(p.pid == pid for p in machine.processes.found) else []
    # A launcher may have TensorFlow loaded itself: children that own a port or a chip come first.
    for choice in (_best(itself), _best(below), itself, below, forked_from):
        if choice:
            return tuple(choice)
    hidden = machine.processes.hidden
    if barred := next((p for p in hidden if pid in (p, *machine.processes.ancestors(p))), None):
        raise NothingDiagnosed(
            f"{pid}: no right to look into {'it' if barred == pid else f'its child {barred}'}: "
            f"{missing_right(barred)}"
        )
    raise NothingDiagnosed(
        f"{pid}: has no TensorFlow or JAX loaded and holds no TPU, nor does any process below it"
    )


def _best(trainers: Sequence[Trainer]) -> list[Trainer]:
    """Those with an accelerator or a profiler's port, or that are stopped and cannot be probed."""
    return [t for t in trainers if t.process.devices or t.profilers or t.process.stopped]


def at_address(at: Address, processes: Table) -> Trainer | None:
    """The stopped trainer of this machine at an address; None where there is none.

    Raises NothingDiagnosed where several listen there: whose profile would come is unknown.
    """
    owners = list(owners_of(at, processes))
    for process, own in owners:
        if not (rivals := process.rivals(own)):
            continue
        commands = {p.pid: shlex.join(p.command)[:60] for p in processes.found}
        each = [
            f"pid {pid or 'another'} ({commands.get(pid, 'no trainer that is seen')})"
            for pid in sorted({process.pid, *rivals})
        ]
        raise NothingDiagnosed(
            f"{at}: {len(each)} processes listen there (SO_REUSEPORT), and a connection comes to "
            f"any of them: {', '.join(each)}; give each a port of its own"
        )
    stopped = [process for process, _ in owners if process.stopped]
    return Trainer(stopped[0], ()) if stopped and len(stopped) == len(owners) else None


def owners_of(at: Address, processes: Table) -> Iterator[tuple[Process, Address]]:
    """The processes of this machine that listen at an address, and where each does."""
    if not is_here(at.host):
        return
    name = ANYWHERE if at.host == os.uname().nodename else at.host
    for process in processes.found:
        for own in sorted(process.listening):
            if not process.own_network and overlap(own, replace(at, host=name)):
                yield process, own


def is_here(host: str) -> bool:
    """Whether a host is this machine."""
    if host in ("localhost", os.uname().nodename):
        return True
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            packed = socket.inet_pton(family, host.partition("%")[0])
            # Only a local address can be bound; no list of interfaces is needed.
            probe.bind((socket.inet_ntop(family, packed), 0))
    except OSError:
        return False
    return True
