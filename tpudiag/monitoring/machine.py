"""Identifies machine, process and worker; the standard library alone."""

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path


def machine() -> str:
    """This boot of this machine, and the namespace of its process ids: empty where unknown.

    Monotonic clocks are comparable where the part before the space is equal, process ids where
    all of it is.
    """
    try:
        # Host names repeat (clones, recreated pods); a boot's id does not, and it changes whenever
        # the monotonic clock restarts.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115  (no path is meant)
    except OSError:
        return ""


def same_clock(one: str, other: str) -> bool:
    """Whether both are the same boot of one machine."""
    return bool(one) and one.partition(" ")[0] == other.partition(" ")[0]


def process_started_ns(now_ns: int) -> int | None:
    """When this process began, ns since the epoch; None where the system does not provide it."""
    age_s = _age_s("self")
    return None if age_s is None else now_ns - int(max(age_s, 0.0) * 1e9)


def worker(environment: Mapping[str, str]) -> str:
    """The cluster's name for this worker (`worker 3`), empty where there is none."""
    try:
        task = json.loads(environment.get("TF_CONFIG") or "{}").get("task", {})
        # TF_CONFIG first: it names the worker of this job, the others that of the slice or pod.
        if "index" in task:
            return f"{task.get('type', 'worker')} {int(task['index'])}"
    except (ValueError, AttributeError, TypeError):
        pass
    for name in ("TPU_WORKER_ID", "JOB_COMPLETION_INDEX"):
        if environment.get(name, "").isdecimal():
            return f"worker {int(environment[name])}"
    return ""


def alive(pid: int, least_age_s: float | None = None) -> bool:
    """Whether a process of this namespace exists, and is no zombie.

    With its least present age: whether it is that process, and not a later one with the same
    number.
    """
    # A killed trainer stays in /proc until its parent fetches its exit code.
    if (stat(pid) or ["X"])[:1] in (["Z"], ["X"]):
        return False
    age_s = None if least_age_s is None else _age_s(pid)
    return age_s is None or least_age_s is None or age_s >= least_age_s


def stopped(pid: int) -> bool:
    """Whether a process of this namespace is stopped by a signal (SIGSTOP, a debugger)."""
    return (stat(pid) or [])[:1] in (["T"], ["t"])


def stat(pid: int | str) -> list[str] | None:
    """The fields of a process's /proc/PID/stat after its name; None where it is gone."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    # After the last bracket: a process's name may hold brackets and spaces.
    return stat.rpartition(")")[2].split()


def _age_s(pid: int | str) -> float | None:
    """A process's age, sleep included; None where the system does not provide it."""
    try:
        ticks = int((stat(pid) or [])[19])  # field 22 of proc(5), since the boot
        return time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
