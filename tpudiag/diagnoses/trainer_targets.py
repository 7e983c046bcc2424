"""The trainers that `attach` is pointed at, its list of them, and those without a server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.report_figures import Table
from tpudiag.signals import UnreadHost
from tpudiag.sources.live.address import Address, addresses
from tpudiag.sources.live.host_stacks import Stacks, missing_right, sample
from tpudiag.sources.live.memory import FreeMemory, free_memory
from tpudiag.sources.live.metrics import figures
from tpudiag.sources.live.probe import Probe
from tpudiag.sources.live.processes import Process, table
from tpudiag.sources.live.trainers import Machine, Trainer, at_address, look, of_pid, owners_of

PORT = 6009
LINE = f"tf.profiler.experimental.server.start({PORT})"
COLUMNS = ("PID", "FRAMEWORK", "PROFILER", "TPU DEVICES", "COMMAND")
MOST_COMMAND, MOST_PLACES = 60, 10


@dataclass(frozen=True)
class Targets:
    """Whom to attach to: by address, and trainers of this machine that serve no profiler."""

    addresses: tuple[Address, ...]
    without: tuple[Trainer, ...] = ()
    notes: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    """The trainers of this machine that were named by their pids."""
    here: tuple[tuple[Address, Process], ...] = ()
    """The processes of this machine at the addresses."""

    def free(self) -> dict[Address, FreeMemory]:
        """How much memory each trainer of this machine can still take, where that is known."""
        known = ((at, free_memory(process.pid)) for at, process in self.here)
        return {at: free for at, free in known if free is not None}

    def guarded(self, probes: Sequence[Probe]) -> tuple[Probe, ...]:
        """The probes; a trainer that a capture would crash has that as its fault."""
        unfit = {at: process.unfit for at, process in self.here if process.unfit}
        return tuple(
            replace(probe, fault=unfit[probe.address])
            if probe.fault is None and probe.address in unfit
            else probe
            for probe in probes
        )

    @property
    def why_none(self) -> str:
        """Why there is no profile."""
        if any(trainer.process.stopped for trainer in self.without):
            return "No profile: the trainer stands still."
        if self.addresses:
            return "No profile: no trainer gave one."
        return "No profile: the trainer runs no profiler server."


def chosen(words: Sequence[str], workers: Sequence[Address] = ()) -> Targets:
    """The command line's addresses and pids, and workers; raises UsageError, NothingDiagnosed."""
    at: list[Address] = list(workers)
    without: list[Trainer] = []
    notes: list[str] = []
    pids: list[int] = []
    machine = look() if any(word.isdigit() for word in words) else None
    processes = machine.processes if machine else table()
    for word in words:
        if not word.isdigit() or machine is None:
            for address in addresses(word):
                stopped = at_address(address, processes)
                without += [stopped] if stopped else []
                at += [] if stopped else [address]
            continue
        trainers = of_pid(int(word), machine)
        pids += [trainer.pid for trainer in trainers]
        at += [trainer.profilers[0] for trainer in trainers if trainer.profilers]
        without += [trainer for trainer in trainers if not trainer.profilers]
        others = [str(trainer.pid) for trainer in trainers if trainer.pid != int(word)]
        if others:
            notes.append(f"Pid {word} is not the trainer itself: attached to {', '.join(others)}.")
    return Targets(
        tuple(dict.fromkeys(at)),
        tuple(dict.fromkeys(without)),
        tuple(notes),
        tuple(dict.fromkeys(pids)),
        tuple(
            (each, owner)
            for each in dict.fromkeys(at)
            for owner, _ in islice(owners_of(each, processes), 1)
        ),
    )


def without_server(
    targets: Targets, duration_s: float, on_phase: Callable[[str], None]
) -> tuple[list[Table], list[UnreadHost]]:
    """What can be had of trainers that serve no profiler, and what they lack."""
    tables: list[Table] = []
    faults: list[UnreadHost] = []
    for trainer in targets.without:
        on_phase(f"sampling the stacks of pid {trainer.pid}")
        stacks = sample(trainer.pid, duration_s)
        if trainer.process.devices:
            tables += _metrics(trainer)
        if stacks.fault is None:
            tables.append(_table(trainer, stacks))
        faults.append(UnreadHost(f"pid {trainer.pid}", _lacks(trainer, stacks)))
    return tables, faults


def _lacks(trainer: Trainer, stacks: Stacks) -> str:
    """Why there is no profile of a trainer, and the line that mends it."""
    if trainer.process.stopped:
        return (
            "stands still (SIGSTOP, Ctrl-Z or a debugger), so no profile can be had: kill -CONT "
            f"{trainer.pid} lets it go on"
        )
    if trainer.process.shared:
        return (
            f"listens at {_shared(trainer)}, and no connection came to it there that a profiler "
            "answered; give each process a port of its own"
        )
    if trainer.process.own_network and trainer.process.listening:
        ports = ", ".join(str(at.port) for at in sorted(trainer.process.listening))
        return (
            f"its ports ({ports}) are in another network, a container's: nsenter --target "
            f"{trainer.pid} --net tpudiag attach localhost:{PORT}"
        )
    advice = f"runs no profiler server; add {LINE} at its start"
    return advice if stacks.fault is None else f"{advice}; and {stacks.fault}"


def _shared(trainer: Trainer) -> str:
    """Where others listen too, and who."""
    return ", ".join(
        f"{at} together with {', '.join(f'pid {pid}' if pid else 'another' for pid in pids)}"
        for at, pids in trainer.process.shared
    )


def _table(trainer: Trainer, stacks: Stacks) -> Table:
    """Where the main thread was."""
    rows = tuple(
        (str(place.location), place.function, place.inside, 100 * place.share)
        for place in stacks.places[:MOST_PLACES]
    )
    return Table(
        f"Where the main thread of pid {trainer.pid} was",
        ("line", "function", "inside", "%"),
        rows,
        f"{stacks.samples} samples of py-spy",
    )


def _metrics(trainer: Trainer) -> list[Table]:
    """What libtpu says of the TPU that a trainer holds."""
    rows = tuple(
        (figure.name, figure.device, figure.value, figure.unit)
        for figure in figures(sorted(trainer.process.listening))
    )
    title = f"The TPU of pid {trainer.pid}"
    return [Table(title, ("figure", "device", "value", "unit"), rows, "libtpu")] if rows else []


def list_trainers(options: argparse.Namespace) -> int:
    """Print the trainers of this machine; raises NothingDiagnosed where there is none."""
    if options.format not in (None, "rich", "text", "json"):
        raise UsageError(f"--format {options.format}: the list of trainers is text or json")
    if options.output:
        raise UsageError("-o: the list of trainers goes to stdout alone; --format json")
    machine = look()
    if options.format == "json":
        print(_as_json(machine))
    if not machine.trainers:
        raise NothingDiagnosed(
            "no trainer on this machine: no process has TensorFlow, JAX or PyTorch/XLA loaded or "
            f"holds a TPU{_hidden(machine)}"
        )
    if options.format != "json":
        print("\n".join(_as_text(machine)))
    return 0


def _hidden(machine: Machine) -> str:
    """What could not be looked into."""
    hidden = machine.processes.hidden
    if not hidden:
        return ""
    return f"; {len(hidden)} Python processes may not be looked into: {missing_right(min(hidden))}"


def _as_json(machine: Machine) -> str:
    """The list for programs."""
    trainers = [
        {
            "pid": trainer.pid,
            "command": trainer.command,
            "framework": trainer.process.framework,
            "profilers": [at.endpoint for at in trainer.profilers],
            "shared_with": sorted({pid for _, pids in trainer.process.shared for pid in pids}),
            "stopped": trainer.process.stopped,
            "tpu_devices": list(trainer.process.devices),
        }
        for trainer in machine.trainers
    ]
    hidden = sorted(machine.processes.hidden)
    document = {"schema_version": 1, "trainers": trainers, "not_looked_into": hidden}
    return json.dumps(document, indent=2)


def _as_text(machine: Machine) -> list[str]:
    """The list for people: columns as wide as they must be."""
    rows = [COLUMNS, *(_row(trainer) for trainer in machine.trainers)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    lines += [
        f"{trainer.pid} listens at {_shared(trainer)}: attach by pid."
        for trainer in machine.trainers
        if trainer.process.shared
    ]
    serving = [t for t in machine.trainers if t.profilers]
    first = next((t.pid if t.profilers[0].pid else str(t.profilers[0]) for t in serving), None)
    if first is None and not all(t.process.stopped for t in machine.trainers):
        lines += ["", f"None serves a profiler: add {LINE} at the trainer's start."]
    lines += ["", f"next: tpudiag attach {first or machine.trainers[0].pid}"]
    if machine.processes.hidden:
        lines += [_hidden(machine).removeprefix("; ")]
    return lines


def _row(trainer: Trainer) -> tuple[str, ...]:
    """One trainer; `-` for what it has not."""
    command = trainer.command
    if len(command) > MOST_COMMAND:
        command = command[: MOST_COMMAND - 3] + "..."
    return (
        str(trainer.pid),
        trainer.process.framework or "-",
        " ".join(at.endpoint for at in trainer.profilers)
        or ("stopped" if trainer.process.stopped else "-"),
        " ".join(trainer.process.devices) or "-",
        command,
    )
