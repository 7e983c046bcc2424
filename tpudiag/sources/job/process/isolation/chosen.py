"""Chooses this machine's isolation of a job, and starts jobs: the tool's side."""

import os
import subprocess
import sys
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from tpudiag import scratch
from tpudiag.errors import NothingDiagnosed
from tpudiag.script_run import Isolation
from tpudiag.sources.job.process.host_memory import available_bytes
from tpudiag.sources.job.process.isolation import launch, system_calls
from tpudiag.sources.job.process.isolation.launch import Launch, Outcome

LAUNCHER = Path(__file__).with_name("launcher.py")
TRIED_S = 20.0
"""The time limit of testing an isolation."""
MEMORY_SHARE = 0.25
"""The share of free memory for layers that cannot be on a disk."""
SPARE_SHARE, LEAST_SPARE_BYTES = 0.02, 256 * 2**20
"""The memory that a rehearsal leaves free on this machine."""
MOST_MOUNTS = 200
IN_PLACE = "`--in-place` lets it write where it says"


@dataclass(frozen=True)
class IsolationMeans:
    """A kind of isolation."""

    isolation: Isolation
    own_processes: bool = False
    """Whether the job gets a process table of its own."""
    refused: str = ""
    """Why no better one is available."""


WAYS = (IsolationMeans("overlay", True), IsolationMeans("overlay"), IsolationMeans("landlock"))
"""Best first."""


@cache
def means(working: str) -> IsolationMeans:
    """The best isolation of this machine for a job in that folder, by testing."""
    if sys.platform != "linux":
        return IsolationMeans("refused", refused="only Linux can hold back what a job writes")
    refused: list[str] = []
    for way in WAYS:
        with scratch.folder("try") as folder:
            wanted = of(way, [], folder, working=working)
            try:
                subprocess.run(
                    command(wanted), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    timeout=TRIED_S, check=True,
                )  # fmt: skip
            except (OSError, subprocess.SubprocessError) as error:
                outcome = launch.outcome_in(str(folder))
                why = outcome.failure if outcome and outcome.failure else type(error).__name__
                refused.append(f"{way.isolation}: {why}")
                continue
        return replace(way, refused="; ".join(refused))
    return IsolationMeans("refused", refused="; ".join(refused))


def of(
    way: IsolationMeans,
    started: list[str],
    folder: Path,
    *,
    working: str = "",
    spares: bool = True,
    **more: Any,
) -> Launch:
    """A job to start with this isolation; `spares`: it is ended where memory is short."""
    memory = available_bytes()
    spare_bytes = max(int(SPARE_SHARE * memory), LEAST_SPARE_BYTES) if spares else 0
    return Launch(
        command=tuple(started),
        isolation=way.isolation,
        own_processes=way.own_processes,
        folder=str(folder),
        layer_bytes=int(MEMORY_SHARE * memory),
        spare_bytes=spare_bytes,
        working=working or os.getcwd(),
        **more,
    )


def command(wanted: Launch) -> list[str]:
    """The command that starts it."""
    return [sys.executable, "-I", "-S", str(LAUNCHER), launch.encoded(wanted)]


def ended(folder: Path) -> Outcome | None:
    """The launcher's report on the job with this folder; NothingDiagnosed if it did not start."""
    outcome = launch.outcome_in(str(folder))
    if outcome is not None and outcome.failure:
        raise NothingDiagnosed(
            f"the job could not be kept apart from your files ({outcome.failure}): {IN_PLACE}"
        )
    return outcome


def mount_points() -> tuple[str, ...]:
    """Where this machine's file systems begin."""
    # A host of many containers has thousands, mostly irrelevant to a script.
    return tuple(sorted(system_calls.mounts(), key=len)[:MOST_MOUNTS])
