"""A ring of samples of the host and of one process, reaching back before a drop."""

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from tpudiag.monitoring import machine
from tpudiag.sources.live import cgroups

EVERY_S = 5.0
KEPT = 720
"""An hour of samples."""
PRESSURE = Path("/proc/pressure/memory")


@dataclass(frozen=True, kw_only=True)
class HostFigures:
    """Rates since the sample before, and levels; None where the system does not provide them."""

    at_ns: int
    """Time since the epoch, as the recordings count it."""
    cores: float
    others_cores: float
    """Cores that other processes kept busy."""
    own_cores: float
    queued: float | None
    """Average number of the process's threads that were runnable without a core."""
    throttled: float | None
    """Share of the time in which the container's limit throttled it."""
    available_share: float
    """Memory available without swapping, as a share of all."""
    swapped_in_mib_per_s: float
    major_faults_per_s: float
    """Pages of the process that were read back from disk."""
    memory_pressure: float | None
    """Share of the time in which some task waited for memory, in percent."""
    resident_gib: float
    read_mib_per_s: float
    received_mib_per_s: float


class HostRing:
    """Samples of one process and its host, every few seconds."""

    def __init__(
        self, pid: int, now_ns: Callable[[], int], monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._process = psutil.Process(pid)
        self._now_ns, self._monotonic = now_ns, monotonic
        self._cpu, self._memory = cgroups.folder(pid, "cpu"), cgroups.folder(pid, "memory")
        self._oom_kills = cgroups.oom_kills(self._memory)
        self._last: tuple[float, dict[str, float | None]] | None = None
        self.samples: deque[HostFigures] = deque(maxlen=KEPT)

    def sample(self, every_s: float = EVERY_S) -> None:
        """Take a sample where one is due; none of a process that is gone."""
        if self._last is not None and self._monotonic() - self._last[0] < every_s:
            return
        with contextlib.suppress(psutil.Error, OSError, ValueError, IndexError):
            self._take()

    def _take(self) -> None:
        # The job's input often runs in child processes: counted as others, they would be blamed for
        # taking the job's cores.
        family = [self._process, *self._process.children(recursive=True)]
        at_s, now = self._monotonic(), self._totals(family)
        self._oom_kills = cgroups.oom_kills(self._memory)
        last, self._last = self._last, (at_s, now)
        if last is None or at_s <= last[0]:
            return
        rates: dict[str, Any] = {
            name: _rate(last[1][name], total, at_s - last[0]) for name, total in now.items()
        }
        busy_cores = rates.pop("busy_cores")
        if rates["memory_pressure"] is not None:
            rates["memory_pressure"] = min(rates["memory_pressure"], 100.0)
        memory = psutil.virtual_memory()
        self.samples.append(
            HostFigures(
                at_ns=self._now_ns(),
                cores=float(psutil.cpu_count() or 1),
                others_cores=max(busy_cores - rates["own_cores"], 0.0),
                available_share=memory.available / memory.total,
                resident_gib=sum(_of(one, "memory_info")[0] for one in family) / 2**30,
                **rates,
            )
        )

    def _totals(self, family: list[psutil.Process]) -> dict[str, float | None]:
        """What grew since the machine's start, by the name and in the unit of its rate."""
        times = psutil.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        disk, net = psutil.disk_io_counters(), psutil.net_io_counters()
        each_s = [_queued_s(process.pid) for process in family]
        queued_s = [seconds for seconds in each_s if seconds is not None]
        waited_s = _waited_s(self._memory)
        return {
            # Linux includes the time of virtual guests in user and nice already. A core that waits
            # for a disk is free for others.
            "busy_cores": sum(times)
            - idle
            - getattr(times, "guest", 0.0)
            - getattr(times, "guest_nice", 0.0),
            "own_cores": sum(sum(_of(process, "cpu_times")[:2]) for process in family),
            "queued": sum(queued_s) if queued_s else None,
            "throttled": cgroups.throttled_s(self._cpu),
            "swapped_in_mib_per_s": psutil.swap_memory().sin / 2**20,
            # Field 12 of proc(5).
            "major_faults_per_s": sum(int((machine.stat(p.pid) or ["0"] * 10)[9]) for p in family),
            "memory_pressure": None if waited_s is None else 100 * waited_s,
            "read_mib_per_s": disk.read_bytes / 2**20 if disk else 0,
            "received_mib_per_s": net.bytes_recv / 2**20 if net else 0,
        }

    def killed_by(self) -> str | None:
        """An OOM kill as the cause of death, where the count grew since the last sample."""
        if cgroups.oom_kills(self._memory) <= self._oom_kills:
            return None
        held = f" (it held {self.samples[-1].resident_gib:.1f} GiB)" if self.samples else ""
        return f"the kernel killed for want of memory at that time{held}"


def middle(samples: Iterable[HostFigures]) -> HostFigures | None:
    """The median of each figure; None where there are none."""
    every = list(samples)
    if not every:
        return None
    values: dict[str, float | None] = {}
    for field in fields(HostFigures):
        known = [getattr(one, field.name) for one in every if getattr(one, field.name) is not None]
        # Each figure's own median: one sample taken during a checkpoint does not move it.
        values[field.name] = median(known) if known else None
    return HostFigures(**values)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def _rate(before: float | None, now: float | None, took_s: float) -> float | None:
    return None if before is None or now is None else max(now - before, 0.0) / took_s


def _of(process: psutil.Process, figures: str) -> tuple[float, ...]:
    """Some figures of a process (user and system time, resident bytes); 0 where it has ended."""
    try:
        return tuple(getattr(process, figures)())
    except psutil.Error:
        return (0.0, 0.0)


def _queued_s(pid: int) -> float | None:
    """How long its threads were runnable without a core, according to the scheduler."""
    total, known = 0, False
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            # The numbers are ns on a core, ns runnable without one, and turns. A sleeping thread
            # adds to none of them.
            total += int(file.read_text(encoding="ascii").split()[1])
            known = True
    return total / 1e9 if known else None


def _waited_s(cgroup: Path | None) -> float | None:
    """Linux' pressure stall information: how long some task waited for memory."""
    # The container's own file first: the machine's includes its neighbours.
    for file in (*([cgroup / "memory.pressure"] if cgroup else []), PRESSURE):
        with contextlib.suppress(OSError, ValueError, IndexError):
            first = file.read_text(encoding="ascii").splitlines()[0]
            return int(first.split("total=")[1].split()[0]) / 1e6
    return None
