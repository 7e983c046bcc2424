"""The trainers of this machine: who owns the accelerator and the profiler's port."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tpudiag.errors import NothingDiagnosed
from tpudiag.sources.live.address import Address
from tpudiag.sources.live.host_stacks import missing_right
from tpudiag.sources.live.probe import probe_all
from tpudiag.sources.live.processes import PROC, Process, Table, table

PROBE_LIMIT_S = 2.0


@dataclass(frozen=True)
class Trainer:
    """A process that trains, or could: a framework is loaded, or it holds a TPU."""

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
    """The trainers of this machine, and what could not be looked into."""

    trainers: tuple[Trainer, ...]
    processes: Table


def look(proc: Path = PROC) -> Machine:
    """Find the trainers, and ask each port that they listen on whether it is a profiler's."""
    processes = table(proc)
    owners = [p for p in processes.found if not _is_fork(p, processes)]
    asked = sorted({at for owner in owners if not owner.own_network for at in owner.listening})
    answered = {p.address for p in probe_all(asked, PROBE_LIMIT_S) if p.fault is None}
    return Machine(
        tuple(
            Trainer(owner, tuple(sorted(owner.listening & answered)) if not owner.own_network
                    else ())
            for owner in owners
        ),
        processes,
    )  # fmt: skip


def _is_fork(process: Process, processes: Table) -> bool:
    """Whether it is a forked worker: all it holds is its ancestor's, its command line too."""
    by_pid = {p.pid: p for p in processes.found}
    above = [by_pid[pid] for pid in processes.ancestors(process.pid) if pid in by_pid]
    return any(
        process.command == other.command
        and process.sockets <= other.sockets
        and set(process.devices) <= set(other.devices)
        for other in above
    )


def of_pid(pid: int, machine: Machine) -> tuple[Trainer, ...]:
    """The trainers that a pid stands for: itself, or those that a launcher started.

    Raises NothingDiagnosed, with the reason, where there is none.
    """
    parents = machine.processes.parents
    if pid not in parents:
        raise NothingDiagnosed(f"{pid}: no process has this pid")
    itself = [t for t in machine.trainers if t.pid == pid]
    below = [t for t in machine.trainers if pid in machine.processes.ancestors(t.pid)]
    owner = [t for t in machine.trainers if t.pid in machine.processes.ancestors(pid)]
    for choice in (_best(itself), _best(below), itself, below, _forked_from(pid, owner, machine)):
        if choice:
            return tuple(choice)
    hidden = machine.processes.hidden
    if barred := next((p for p in hidden if pid in (p, *machine.processes.ancestors(p))), None):
        raise NothingDiagnosed(
            f"{pid}: no right to look into {'it' if barred == pid else f'its child {barred}'}: "
            f"{missing_right(barred)}"
        )
    raise NothingDiagnosed(
        f"{pid}: has no TensorFlow loaded and holds no TPU, nor does any process below it"
    )


def _best(trainers: Sequence[Trainer]) -> list[Trainer]:
    """Those that own an accelerator or a profiler's port."""
    return [t for t in trainers if t.process.devices or t.profilers]


def _forked_from(pid: int, owners: Sequence[Trainer], machine: Machine) -> list[Trainer]:
    """The trainer whose forked worker the pid is."""
    listed = {p.pid for p in machine.processes.found}
    return list(owners[:1]) if pid in listed else []
