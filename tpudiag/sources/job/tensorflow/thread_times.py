"""CPU time of this process by thread, and the cores that it may use; Linux tells both."""

from __future__ import annotations

import os
from pathlib import Path

_TASKS = Path("/proc/self/task")
_QUOTA = Path("/sys/fs/cgroup/cpu.max")


def cpu_seconds() -> dict[str, float]:
    """CPU seconds of each thread so far, by its number; empty where the system does not tell."""
    times: dict[str, float] = {}
    try:
        threads = [task.name for task in _TASKS.iterdir()]
    except OSError:
        return {}
    for thread in threads:
        try:
            # In nanoseconds; the ticks of `stat` are as long as a whole batch.
            times[thread] = int((_TASKS / thread / "schedstat").read_text().split()[0]) / 1e9
        except (OSError, ValueError, IndexError):
            continue  # it ended meanwhile
    return times


def busiest_of(born_before: dict[str, float], start: dict[str, float]) -> float | None:
    """CPU seconds since `start` of the busiest thread that was not there in `born_before`.

    A pipeline's own threads start with its iterator; those of TensorFlow's pool, whose work any
    other of them may take, were there already. None where there is none.
    """
    spent = [
        now - start.get(thread, 0.0)
        for thread, now in cpu_seconds().items()
        if thread not in born_before
    ]
    return max(spent, default=None)


def usable_cores() -> int:
    """The cores that this process may use: by its affinity and its control group's quota."""
    try:
        cores = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):
        cores = os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text().split()
        return max(1, min(cores, round(int(quota) / int(period))))
    except (OSError, ValueError):
        return cores
