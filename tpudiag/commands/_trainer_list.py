"""The trainers of this machine, as `tpudiag attach` without a target lists them."""

import argparse

from tpudiag.diagnoses.trainer_targets import LINE, shared_ports
from tpudiag.errors import NothingDiagnosed, UsageError
from tpudiag.printing import put, put_data
from tpudiag.sanitized import one_line
from tpudiag.sources.live.host_stacks import missing_right
from tpudiag.sources.live.trainers import Machine, Trainer, look

COLUMNS = ("PID", "FRAMEWORK", "PROFILER", "TPU DEVICES", "COMMAND")
MOST_COMMAND = 60


def list_trainers(options: argparse.Namespace) -> int:
    """Print the trainers of this machine; raises NothingDiagnosed where there is none."""
    if options.format not in (None, "rich", "text", "json"):
        raise UsageError(f"--format {options.format}: the list of trainers is text or json")
    if options.output:
        raise UsageError("-o: the list of trainers goes to stdout alone; --format json")
    machine = look()
    # An empty list is valid for programs; the exit code reports that there is nothing.
    if options.format == "json":
        put_data(_as_data(machine))
    if not machine.trainers:
        raise NothingDiagnosed(
            "no trainer on this machine: no process has TensorFlow, JAX or PyTorch/XLA loaded or "
            f"holds a TPU{_hidden(machine)}"
        )
    if options.format != "json":
        put("\n".join(_as_text(machine)))
    return 0


def _hidden(machine: Machine) -> str:
    hidden = machine.processes.hidden
    if not hidden:
        return ""
    return f"; {len(hidden)} Python processes may not be looked into: {missing_right(min(hidden))}"


def _as_data(machine: Machine) -> dict[str, object]:
    trainers = [
        {
            "pid": trainer.pid,
            "command": trainer.command,
            "framework": trainer.process.framework,
            "profilers": [str(at) for at in trainer.profilers],
            "shared_with": sorted({pid for _, pids in trainer.process.shared for pid in pids}),
            "stopped": trainer.process.stopped,
            "tpu_devices": list(trainer.process.devices),
        }
        for trainer in machine.trainers
    ]
    hidden = sorted(machine.processes.hidden)
    return {"schema_version": 1, "trainers": trainers, "not_looked_into": hidden}


def _as_text(machine: Machine) -> list[str]:
    rows = [COLUMNS, *(_row(trainer) for trainer in machine.trainers)]
    # The command comes last, and needs no width.
    widths = [max(len(row[at]) for row in rows) for at in range(len(COLUMNS) - 1)]
    lines = [
        "  ".join([*(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    lines += [
        f"{trainer.pid} listens at {shared_ports(trainer)}: give each a port of its own."
        for trainer in machine.trainers
        if trainer.process.shared
    ]
    serving = [t for t in machine.trainers if t.profilers]
    first = str(serving[0].profilers[0]) if serving else None
    if first is None and not all(t.process.stopped for t in machine.trainers):
        lines += ["", f"None serves a profiler: add {LINE} at the trainer's start."]
    lines += ["", f"next: tpudiag attach {first or machine.trainers[0].pid}"]
    if machine.processes.hidden:
        lines += [_hidden(machine).removeprefix("; ")]
    return lines


def _row(trainer: Trainer) -> tuple[str, ...]:
    command = one_line(trainer.command)
    if len(command) > MOST_COMMAND:
        command = command[: MOST_COMMAND - 3] + "..."
    return (
        str(trainer.pid),
        trainer.process.framework or "-",
        " ".join(str(at) for at in trainer.profilers)
        or ("stopped" if trainer.process.stopped else "-"),
        " ".join(trainer.process.devices) or "-",
        command,
    )
