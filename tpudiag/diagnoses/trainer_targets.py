"""The trainers for `attach`, and the data available from those without a server."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from tpudiag.report_figures import Table
from tpudiag.signals import UnreadHost
from tpudiag.sources.live.address import Address, addresses
from tpudiag.sources.live.cgroups import FreeMemory, free_memory
from tpudiag.sources.live.host_stacks import Stacks, sample
from tpudiag.sources.live.metrics import figures
from tpudiag.sources.live.probe import Probe
from tpudiag.sources.live.processes import Process, table
from tpudiag.sources.live.trainers import Trainer, at_address, look, of_pid, owners_of

PORT = 6009
LINE = f"tf.profiler.experimental.server.start({PORT})"
LINE_OF_JAX = f"jax.profiler.start_server({PORT})"
MOST_PLACES = 10


@dataclass(frozen=True)
class Targets:
    """Trainers to attach to by address, and local ones that serve no profiler."""

    addresses: tuple[Address, ...]
    without: tuple[Trainer, ...] = ()
    notes: tuple[str, ...] = ()
    pids: tuple[int, ...] = ()
    """Local trainers that were named by their pids."""
    here: tuple[tuple[Address, Process], ...] = ()
    """Local processes at the addresses."""

    def free(self) -> dict[Address, FreeMemory]:
        """Free memory of each local trainer, where known."""
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
    # Finding trainers probes their ports: for addresses the table of processes is enough.
    processes = machine.processes if machine else table()
    for word in words:
        if not word.isdigit() or machine is None:
            for address in addresses(word):
                # A stopped process accepts the connection but never answers: report it, do not
                # wait.
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
        # An address and a pid may name the same trainer: two captures at once refuse each other.
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
    """Facts available from trainers that serve no profiler, and their problems."""
    tables: list[Table] = []
    faults: list[UnreadHost] = []
    for trainer in targets.without:
        on_phase(f"sampling the stacks of pid {trainer.pid}")
        stacks = sample(trainer.pid, duration_s)
        # libtpu has its own port even where the trainer serves no profiler.
        if trainer.process.devices:
            tables += _metrics(trainer)
        if stacks.fault is None:
            tables.append(_table(trainer.pid, stacks))
        faults.append(UnreadHost(f"pid {trainer.pid}", _lacks(trainer, stacks)))
    return tables, faults


def _lacks(trainer: Trainer, stacks: Stacks) -> str:
    """Why a trainer has no profile, and the line that fixes it."""
    if trainer.process.stopped:
        return (
            "stands still (SIGSTOP, Ctrl-Z or a debugger), so no profile can be had: kill -CONT "
            f"{trainer.pid} lets it go on"
        )
    if trainer.process.shared:
        return (
            f"listens at {shared_ports(trainer)}, and a connection comes to any of them; give each "
            "process a port of its own"
        )
    if trainer.process.own_network and trainer.process.listening:
        ports = ", ".join(str(at.port) for at in sorted(trainer.process.listening))
        return (
            f"its ports ({ports}) are in another network, a container's: nsenter --target "
            f"{trainer.pid} --net tpudiag attach localhost:{PORT}"
        )
    of_jax = (trainer.process.framework or "").startswith("JAX")
    advice = f"runs no profiler server; add {LINE_OF_JAX if of_jax else LINE} at its start"
    return advice if stacks.fault is None else f"{advice}; and {stacks.fault}"


def shared_ports(trainer: Trainer) -> str:
    """Ports where others listen too, and who."""
    return ", ".join(
        f"{at} together with {', '.join(f'pid {pid}' if pid else 'another' for pid in pids)}"
        for at, pids in trainer.process.shared
    )


def standing(
    targets: Targets,
    silent: Collection[Address],
    duration_s: float,
    on_phase: Callable[[str], None],
) -> list[Table]:
    """The current lines of local trainers that made no step: they may hang."""
    tables: list[Table] = []
    for pid in dict.fromkeys(process.pid for at, process in targets.here if at in silent):
        on_phase(f"sampling the stacks of pid {pid}")
        stacks = sample(pid, duration_s)
        tables += [_table(pid, stacks)] if stacks.fault is None else []
    return tables


def _table(pid: int, stacks: Stacks) -> Table:
    rows = tuple(
        (str(place.location), place.function, place.inside, 100 * place.share)
        for place in stacks.places[:MOST_PLACES]
    )
    return Table(
        f"Where the main thread of pid {pid} was",
        ("line", "function", "inside", "%"),
        rows,
        f"{stacks.samples} samples of py-spy",
    )


def _metrics(trainer: Trainer) -> list[Table]:
    rows = tuple(
        (figure.name, figure.device, figure.value, figure.unit)
        for figure in figures(sorted(trainer.process.listening))
    )
    title = f"The TPU of pid {trainer.pid}"
    return [Table(title, ("figure", "device", "value", "unit"), rows, "libtpu")] if rows else []
