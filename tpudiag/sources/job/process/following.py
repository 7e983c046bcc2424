"""Follows a running job from the tool's side: its facts and output as they come, and its limits."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import IO, cast

import psutil

from tpudiag.phases import OnPhase, Phase
from tpudiag.script_run import Writes
from tpudiag.sources.cell_lines import CellMap

OnFacts = Callable[[dict[str, object]], None]
LOOK_S = 20.0
"""The interval between two looks."""
LEAST_S = 0.5
"""The least CPU time between two looks; a hanging process uses almost none."""


HELD_UP = (psutil.STATUS_RUNNING, psutil.STATUS_DISK_SLEEP)
"""States of a process that would go on if this machine had a core or its disk to spare."""


def look(pid: int) -> tuple[float, bool]:
    """The CPU time of a process and its living descendants, and whether one is held up."""
    total, held_up = 0.0, False
    try:
        started = psutil.Process(pid)
        processes = [started, *started.children(recursive=True)]
    except psutil.Error:
        return total, held_up
    for process in processes:
        with contextlib.suppress(psutil.Error):  # it has just ended
            times = process.cpu_times()
            total += times.user + times.system
            held_up |= process.status() in HELD_UP
    return total, held_up


class HangDetector:
    """Samples a process now and then, since on a busy machine it may be slow but alive."""

    def __init__(
        self,
        pid: int,
        look: Callable[[int], tuple[float, bool]] = look,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid, self._look, self._clock = pid, look, clock
        self._looked: float | None = None
        self._before_s = 0.0

    def goes_on(self) -> bool:
        """Whether it computed since the last look, or would; True until the next one is due."""
        now = self._clock()
        if self._looked is not None and now - self._looked < LOOK_S:
            return True
        taken_s, held_up = self._look(self._pid)
        more_s, self._before_s, self._looked = taken_s - self._before_s, taken_s, now
        return held_up or more_s >= LEAST_S


TAIL_BYTES = 64 * 1024
LONGEST_LINE, LINES_AHEAD = 64 << 20, 100
"""Of facts: bytes per line, and queued lines; the job can write to their pipe."""
GRACE_S = 10.0
"""The time for a stopped job to end."""
LAST_WORDS_S = 2.0
"""How long a dead job's pipe is still read."""


@dataclass(frozen=True)
class Limits:
    """Time limits for the parts of a job, in seconds."""

    total_s: float
    """As set by the user."""
    import_s: float = 120.0
    tpu_s: float = 120.0
    ends_at: float | None = None
    """By `time.monotonic`: for all tries of a job together."""

    @property
    def left_s(self) -> float:
        """How long a try that begins now may take."""
        ends_at = self.ends_at or float("inf")
        return min(self.total_s, ends_at - time.monotonic())

    def within(self, most_s: float) -> Limits:
        """The same for a try that begins now, limited to `most_s`."""
        ends_at = time.monotonic() + most_s
        return replace(self, ends_at=min(ends_at, self.ends_at or ends_at))


@dataclass(kw_only=True)
class JobRun:
    """The result of a job: its facts, how it ended, and its last output."""

    facts: dict[str, object] = field(default_factory=dict[str, object])
    exit_code: int | None = None
    timed_out: str | None = None
    """The limit that was hit, in words."""
    short_of_memory: bool = False
    """That limit was the machine's memory."""
    interrupted: bool = False
    log_tail: str = ""
    wall_s: float = 0.0
    cells: CellMap | None = None
    """For a notebook: maps the program's lines to its cells."""
    variables: dict[str, str] = field(default_factory=dict[str, str])
    """Variables added to the user's environment."""
    writes: Writes | None = None
    """Its writes; None where unknown."""

    @property
    def phase(self) -> str:
        """The job's last known phase."""
        return str(self.facts.get("phase", "starting"))


class Output:
    """Reads a job's output to its end, so that it never blocks, and keeps the last part."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._tail = bytearray()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            while chunk := os.read(self._stream.fileno(), 65536):
                self._tail += chunk
                del self._tail[:-TAIL_BYTES]

    def tail(self) -> str:
        """The last output; waits a moment for what is still in the pipe."""
        # Not to its end: a remaining child of the job may hold the pipe open for ever.
        self._thread.join(timeout=1.0)
        return self._tail.decode("utf-8", "replace")


def follow(
    process: subprocess.Popen[bytes],
    read_end: int,
    job: JobRun,
    limits: Limits,
    on_phase: OnPhase,
    on_facts: OnFacts,
) -> None:
    """Collect facts until the process is gone and its pipe is empty, or a limit is hit."""
    lines: queue.Queue[bytes | None] = queue.Queue(LINES_AHEAD)
    threading.Thread(target=_pump, args=(read_end, lines), daemon=True).start()
    started = phase_began = time.monotonic()
    ended_at: float | None = None
    work = HangDetector(process.pid)
    while True:
        try:
            # Not a blocking read: limits must be checked while a hanging job is silent.
            line = lines.get(timeout=0.2)
        except queue.Empty:
            line = b""
        if line is None:
            # The pipe ends a moment before the process, whose exit code is still to come.
            if ended_at is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=GRACE_S)
            return
        if line:
            if heard(line, job, on_phase, on_facts):
                phase_began = time.monotonic()
            continue
        now = time.monotonic()
        # The job may be over while its threads are not (a data loader, a server): after its last
        # fact it gets a moment, and is killed.
        if process.poll() is not None or "end" in job.facts:
            ended_at = ended_at or now
            # Its last facts may have come since the last look; a remaining child may hold the pipe
            # open.
            if now - ended_at > (GRACE_S if process.returncode is None else LAST_WORDS_S):
                return
        elif (hit := _limit(job, limits, now - started, now - phase_began, work)) is not None:
            job.timed_out = hit
            return


def heard(line: bytes, job: JobRun, on_phase: OnPhase, on_facts: OnFacts) -> bool:
    """Take a line of facts and report progress; whether the job entered a new phase."""
    phase = job.phase
    facts = take(line, job)
    on_facts(facts)
    if job.phase != phase:
        on_phase(job.phase)
    match facts.get("steps_done"):
        case [int(done), int(total)]:
            on_phase(Phase(job.phase, done, total, "steps"))
        case _:
            pass
    return job.phase != phase


def _limit(
    job: JobRun, limits: Limits, total_s: float, phase_s: float, work: HangDetector
) -> str | None:
    importing = job.phase.startswith("importing ") and phase_s > limits.import_s
    if importing and not work.goes_on():  # otherwise the machine is slow or busy
        return f"{job.phase} did not end within {limits.import_s:.0f} s, and hangs"
    if job.phase.startswith("tpu: ") and phase_s > limits.tpu_s:
        return f"the TPU did not answer within {limits.tpu_s:.0f} s"
    over = limits.ends_at is not None and time.monotonic() > limits.ends_at
    if over or total_s > limits.total_s:
        return f"the job took longer than {limits.total_s:.0f} s (--timeout) while {job.phase}"
    return None


def _pump(descriptor: int, lines: queue.Queue[bytes | None]) -> None:
    """Read the pipe of facts line by line, up to the longest; None at its end."""
    with os.fdopen(descriptor, "rb") as stream:
        while line := stream.readline(LONGEST_LINE):
            lines.put(line)
    lines.put(None)


def take(line: bytes, job: JobRun) -> dict[str, object]:
    """Add and return one line of facts; half a line from a killed job is ignored."""
    try:
        message: object = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(message, dict):
        return {}
    facts = cast("dict[str, object]", message)
    if job.cells is not None:
        facts = {name: job.cells.relocated(fact) for name, fact in facts.items()}
    job.facts.update(facts)
    return facts
