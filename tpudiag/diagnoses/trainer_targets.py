"""The trainers that `attach` is pointed at, its list of them, and those without a server."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.model import Table
from tpudiag.signals import UnreadHost
from tpudiag.sources.live.address import Address, addresses
from tpudiag.sources.live.host_stacks import Stacks, missing_right, sample
from tpudiag.sources.live.metrics import figures
from tpudiag.sources.live.trainers import Machine, Trainer, look, of_pid

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


def chosen(words: Sequence[str], workers: Sequence[Address] = ()) -> Targets:
    """The command line's addresses and pids, and workers; raises UsageError, NothingDiagnosed."""
    at: list[Address] = list(workers)
    without: list[Trainer] = []
    notes: list[str] = []
    pids: list[int] = []
    machine = look() if any(word.isdigit() for word in words) else None
    for word in words:
        if not word.isdigit() or machine is None:
            at += addresses(word)
            continue
        found = of_pid(int(word), machine)
        pids += [trainer.pid for trainer in found]
        at += [trainer.profilers[0] for trainer in found if trainer.profilers]
        without += [trainer for trainer in found if not trainer.profilers]
        others = [str(trainer.pid) for trainer in found if trainer.pid != int(word)]
        if others:
            notes.append(f"Pid {word} is not the trainer itself: attached to {', '.join(others)}.")
    return Targets(
        tuple(dict.fromkeys(at)), tuple(dict.fromkeys(without)), tuple(notes),
        tuple(dict.fromkeys(pids)),
    )  # fmt: skip


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
    if trainer.process.own_network and trainer.process.listening:
        ports = ", ".join(str(at.port) for at in sorted(trainer.process.listening))
        return (
            f"its ports ({ports}) are in another network, a container's: nsenter --target "
            f"{trainer.pid} --net tpudiag attach localhost:{PORT}"
        )
    said = f"runs no profiler server; add {LINE} at its start"
    return said if stacks.fault is None else f"{said}; and {stacks.fault}"


def _table(trainer: Trainer, stacks: Stacks) -> Table:
    """Where the main thread was."""
    rows = tuple(
        (str(place.location), place.function, place.inside, 100 * place.share)
        for place in stacks.places[:MOST_PLACES]
    )
    return Table(
        f"Where the main thread of pid {trainer.pid} was", ("line", "function", "inside", "%"),
        rows, f"{stacks.samples} samples of py-spy",
    )  # fmt: skip


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
            "profilers": [str(at) for at in trainer.profilers],
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
    first = next((str(t.profilers[0]) for t in machine.trainers if t.profilers), None)
    if first is None:
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
        " ".join(str(at) for at in trainer.profilers) or "-",
        " ".join(trainer.process.devices) or "-",
        command,
    )
