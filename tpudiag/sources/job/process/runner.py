"""The parent's side of an observed job: starts it, limits every wait, collects its facts."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, cast

from tpudiag import scratch
from tpudiag.phases import Phase
from tpudiag.script_run import Writes
from tpudiag.sources.cell_lines import CellMap
from tpudiag.sources.job.process import bytecode
from tpudiag.sources.job.process.at_work import AtWork
from tpudiag.sources.job.process.isolation import chosen
from tpudiag.sources.job.process.isolation.chosen import Means
from tpudiag.sources.job.process.isolation.launch import REDIRECTED
from tpudiag.sources.job.process.job_python import JobPython, variables_for
from tpudiag.sources.job.process.protocol import JobSpec, encoded_spec

BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
TAIL_BYTES = 64 * 1024
COLAB_TPU = "COLAB_TPU_ADDR"
"""Where Colab's TPU runtimes put the TPU's address, before they became TPU VMs."""
_TPU_NAMES = {COLAB_TPU: "127.0.0.1:8470", "TPU_NAME": "local"}
"""Variables from which scripts read their TPU's name, whose resolver is replaced."""
LONGEST_LINE, LINES_AHEAD = 64 << 20, 100
"""Of facts: bytes per line, and queued lines; the job can write to their pipe."""
GRACE_S = 10.0
"""The time for a stopped job to end."""
LAST_WORDS_S = 2.0
"""How long a dead job's pipe is still read."""
LAUNCHED = sys.platform == "linux"
"""Whether jobs are started by the launcher."""


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


@dataclass(frozen=True)
class _Listener:
    """Receives a job's progress."""

    on_phase: Callable[[str], None]
    on_facts: Callable[[dict[str, object]], None]


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


class _Output:
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


def run(
    spec: JobSpec,
    python: JobPython,
    limits: Limits,
    on_phase: Callable[[str], None],
    on_facts: Callable[[dict[str, object]], None] = lambda _: None,
) -> JobRun:
    """Run a job under observation until it ends, hits a limit or is interrupted.

    It runs in the job's Python, which needs nothing but the job's own packages (`bootstrap`).
    """
    started = time.monotonic()
    with scratch.folder("job") as folder, _Pipes.opened() as pipes:
        bytecode.made(python)
        spec = replace(_with_layer(spec, folder / REDIRECTED), ends_in_s=limits.left_s)
        inherited = [pipes.facts_in] + ([spec.requests] if spec.requests >= 0 else [])
        job = JobRun(
            cells=CellMap(spec.notebook, spec.program, spec.cells) if spec.cells else None,
            variables=added_variables(spec),
        )
        with subprocess.Popen(
            _command(spec, python, folder, pipes, inherited),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Facts have a pipe of their own: the job may close, redirect or flood its stdout.
            pass_fds=[*inherited, *pipes.for_launcher],
            # A group of its own: Ctrl-C reaches us alone, and the job can be killed with all its
            # children.
            start_new_session=True,
            env={**variables_for(python), **job.variables, **_temporary(spec, folder)},
        ) as process:
            pipes.started()
            assert process.stdout is not None
            output = _Output(process.stdout)
            try:
                _follow(process, pipes.facts_out, job, limits, _Listener(on_phase, on_facts))
            except KeyboardInterrupt:
                job.interrupted = True
            finally:
                _end(process)
            job.log_tail = job.cells.text(output.tail()) if job.cells else output.tail()
        _note_isolation(job, spec, folder)
    job.exit_code = process.returncode
    job.wall_s = time.monotonic() - started
    return job


def _with_layer(spec: JobSpec, layer: Path) -> JobSpec:
    """The job, with a folder of its own for its writes."""
    layer.mkdir()
    mount_points = chosen.mount_points() if spec.isolation == "overlay" else ()
    return replace(spec, layer=str(layer), mount_points=mount_points)


def _note_isolation(job: JobRun, spec: JobSpec, folder: Path) -> None:
    """Add to an ended job what its isolation held back, and whether memory ended it."""
    outcome = chosen.ended(folder)
    job.short_of_memory = outcome is not None and bool(outcome.memory)
    job.timed_out = (outcome.memory if outcome else "") or job.timed_out
    job.writes = chosen.writes(spec.isolation, outcome)
    hidden = job.facts.get("hidden_files")
    if job.writes is not None and isinstance(hidden, int):
        job.writes = replace(job.writes, removed=job.writes.removed + hidden)


class _Pipes:
    """The pipes for the job's facts, and for noticing the tool's death in the launcher."""

    def __init__(self) -> None:
        self.facts_out, self.facts_in = os.pipe()
        self._alive_out, self._alive_in = os.pipe()
        held_open = scratch.lifeline()
        self.for_launcher: tuple[int, ...] = (
            self._alive_out,
            *([held_open] if held_open >= 0 else []),
        )
        if not LAUNCHED:
            self.for_launcher = ()

    @classmethod
    @contextlib.contextmanager
    def opened(cls) -> Generator[_Pipes, None, None]:
        """Pipes that are closed at the end; `facts_out` by its reader."""
        pipes = cls()
        try:
            yield pipes
        finally:
            os.close(pipes._alive_in)

    def started(self) -> None:
        """The job has its ends now."""
        os.close(self.facts_in)
        os.close(self._alive_out)


def _command(
    spec: JobSpec, python: JobPython, folder: Path, pipes: _Pipes, inherited: list[int]
) -> list[str]:
    """The command that starts the job; by the launcher where the system supports that."""
    own = [python.path, "-B", str(BOOTSTRAP), encoded_spec(spec), str(pipes.facts_in)]
    if not LAUNCHED:
        return own
    means = chosen.means(str(Path.cwd())) if spec.isolation == "overlay" else Means(spec.isolation)
    wanted = chosen.of(means, tuple(own), folder, offline=spec.offline)
    alive, held_open = pipes.for_launcher[0], list(pipes.for_launcher[1:])
    return chosen.command(
        replace(
            wanted,
            shared=tuple(_made(own) for own in _own_folders(spec)),
            lifeline=alive,
            held_open=held_open[0] if held_open else -1,
            passed=tuple(inherited),
            keep=spec.keep,
            spare_bytes=wanted.spare_bytes if spec.rehearse else 0,
        )
    )


def _own_folders(spec: JobSpec) -> Iterator[str]:
    """The folders read after the job, or in which the user lets it save."""
    for folder in (spec.log_dir, spec.lower_to, *spec.writable):
        if folder and "://" not in folder:
            yield os.path.abspath(folder)  # noqa: PTH100 (as the job names it: nothing resolved)


def _made(folder: str) -> str:
    """A folder, created if necessary."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    return folder


def _temporary(spec: JobSpec, folder: Path) -> dict[str, str]:
    """Variables with a folder for a rehearsal's temporary files, which is removed with them.

    The job skips Python's exit handlers, and AutoGraph alone leaves a file per function.
    """
    if not spec.rehearse:
        return {}
    (folder / "tmp").mkdir()
    return {"TMPDIR": str(folder / "tmp"), "TPU_LOG_DIR": str(folder / "tmp")}


def added_variables(spec: JobSpec) -> dict[str, str]:
    """Variables added to the user's environment: no accelerator is searched."""
    if not spec.rehearse:
        return {}
    # Without the second, libtpu queries the metadata server, and waits for it off Google Cloud.
    variables = {"CUDA_VISIBLE_DEVICES": "-1", "TPU_SKIP_MDS_QUERY": "1"}
    text = _text_of(spec.program)
    for name, value in _TPU_NAMES.items():
        # A script with its own default works without the variable, and its default is used.
        without_default = rf"""["']{name}["'](?!\s*,\s*["'][^"'])"""
        without = re.search(without_default, text) and re.search("environ|getenv", text)
        if without and name not in os.environ:
            variables[name] = value
    return variables


def _text_of(program: str) -> str:
    """The text of a script; empty where it is none."""
    try:
        return Path(program).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


def _follow(
    process: subprocess.Popen[bytes],
    read_end: int,
    job: JobRun,
    limits: Limits,
    listener: _Listener,
) -> None:
    """Collect facts until the process is gone and its pipe is empty, or a limit is hit."""
    lines: queue.Queue[bytes | None] = queue.Queue(LINES_AHEAD)
    threading.Thread(target=_pump, args=(read_end, lines), daemon=True).start()
    started = phase_began = time.monotonic()
    ended_at: float | None = None
    work = AtWork(process.pid)
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
            if _heard(line, job, listener):
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


def _heard(
    line: bytes,
    job: JobRun,
    listener: _Listener,
) -> bool:
    """Take a line of facts and report progress; whether the job entered a new phase."""
    phase = job.phase
    facts = _take(line, job)
    listener.on_facts(facts)
    if job.phase != phase:
        listener.on_phase(job.phase)
    if "steps_done" in facts:
        match facts["steps_done"]:
            case [int(done), int(total)]:
                listener.on_phase(Phase(job.phase, done, total, "steps"))
            case _:
                pass
    return job.phase != phase


def _limit(job: JobRun, limits: Limits, total_s: float, phase_s: float, work: AtWork) -> str | None:
    """The limit that a job has hit, as text."""
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


def _take(line: bytes, job: JobRun) -> dict[str, object]:
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


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the job and everything it started."""
    if process.poll() is None:
        for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
            with contextlib.suppress(ProcessLookupError):
                # The launcher asks the job to end, kills it after a moment, and reports its writes.
                if LAUNCHED and number == signal.SIGTERM:
                    process.terminate()
                else:
                    os.killpg(process.pid, number)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=wait_s)
                break
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
