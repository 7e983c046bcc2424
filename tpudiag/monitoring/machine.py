"""What tells one machine, process and worker from another; the standard library alone."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path


def machine() -> str:
    """This boot of this machine, and the namespace of its process ids: empty where unknown.

    Monotonic clocks can be compared where the part before the space is the same, process ids
    where all of it is.
    """
    try:
        # Host names repeat (clones, pods made anew under the old name); a boot's id does not, and
        # it changes whenever the monotonic clock begins anew.
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {os.readlink('/proc/self/ns/pid')}"  # noqa: PTH115  (no path is meant)
    except OSError:
        return ""


def same_clock(one: str, other: str) -> bool:
    """Whether two machines are one boot of one."""
    return bool(one) and one.partition(" ")[0] == other.partition(" ")[0]


def process_started_ns(now_ns: int) -> int | None:
    """When this process began, ns since the epoch; None where the system does not say."""
    try:
        stat = Path("/proc/self/stat").read_text(encoding="utf-8", errors="replace")
        # After the last bracket: a process may have brackets and spaces in its name. There the 20th
        # is field 22 of proc(5), in ticks since the boot, sleep included.
        ticks = int(stat.rpartition(")")[2].split()[19])
        age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - ticks / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None
    return now_ns - int(max(age_s, 0.0) * 1e9)


def worker(environment: Mapping[str, str]) -> str:
    """What the cluster calls this worker (`worker 3`), empty where nothing was told."""
    try:
        task = json.loads(environment.get("TF_CONFIG") or "{}").get("task", {})
        # TF_CONFIG first: it names the worker of this job, the others that of the slice or of the
        # pod.
        if "index" in task:
            return f"{task.get('type', 'worker')} {int(task['index'])}"
    except (ValueError, AttributeError, TypeError):
        pass
    for name in ("TPU_WORKER_ID", "JOB_COMPLETION_INDEX"):
        if environment.get(name, "").isdecimal():
            return f"worker {int(environment[name])}"
    return ""


def alive(pid: int) -> bool:
    """Whether a process of this namespace is there, and no zombie."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    # A trainer that was killed stays in /proc until whoever started it asks for its exit code.
    return stat.rpartition(")")[2].split()[:1] not in (["Z"], ["X"])


def stopped(pid: int) -> bool:
    """Whether a process of this namespace is stopped by a signal (SIGSTOP, a debugger)."""
    try:
        stat = Path("/proc", str(pid), "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] in (["T"], ["t"])
