"""Starts an observed job, isolated and compiled as it asks, and ends it with all its processes."""

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from tpudiag import scratch
from tpudiag.phases import OnPhase
from tpudiag.script_run import Writes
from tpudiag.sources.cell_lines import CellMap
from tpudiag.sources.job.process.following import GRACE_S, JobRun, Limits, OnFacts, Output, follow
from tpudiag.sources.job.process.isolation import chosen
from tpudiag.sources.job.process.isolation.chosen import IsolationMeans
from tpudiag.sources.job.process.isolation.launch import REDIRECTED
from tpudiag.sources.job.process.job_python import JobPython, variables_for
from tpudiag.sources.job.process.protocol import JobSpec, encoded_spec

PACKAGE = Path(__file__).resolve().parents[3]
ROOMS = ("sources/job", "signals")
"""The job's side, beside the modules at the top of the package."""
LIMIT_S = 60.0


def made(python: JobPython) -> None:
    """Compile what is missing or outdated, where it can be written."""
    if os.environ.get("PYTHONDONTWRITEBYTECODE") or not os.access(PACKAGE, os.W_OK):
        return
    tag = "cpython-" + "".join(python.release.split(".")[:2])
    rooms = (source for room in ROOMS for source in (PACKAGE / room).rglob("*.py"))
    stale = [str(s) for s in (*PACKAGE.glob("*.py"), *rooms) if _is_stale(s, tag)]
    if stale:
        with suppress(OSError, subprocess.SubprocessError):
            subprocess.run(
                [python.path, "-I", "-m", "compileall", "-q", *stale],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=LIMIT_S,
                check=False,
            )


def _is_stale(source: Path, tag: str) -> bool:
    made_of = source.parent / "__pycache__" / f"{source.stem}.{tag}.pyc"
    with suppress(OSError):
        return made_of.stat().st_mtime < source.stat().st_mtime
    return True


BOOTSTRAP = Path(__file__).with_name("bootstrap.py")
COLAB_TPU = "COLAB_TPU_ADDR"
"""Where Colab's TPU runtimes put the TPU's address, before they became TPU VMs."""
_TPU_NAMES = {COLAB_TPU: "127.0.0.1:8470", "TPU_NAME": "local"}
"""Variables from which scripts read their TPU's name, whose resolver is replaced."""
_HUBS = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_DATASETS_OFFLINE", "HF_EVALUATE_OFFLINE")
"""What keeps the packages of a hub whose data are faked from half a minute of tries each time."""
LAUNCHED = sys.platform == "linux"
"""Whether jobs are started by the launcher."""


def run(
    spec: JobSpec,
    python: JobPython,
    limits: Limits,
    on_phase: OnPhase,
    on_facts: OnFacts = lambda _: None,
) -> JobRun:
    """Run a job under observation until it ends, hits a limit or is interrupted.

    It runs in the job's Python, which needs nothing but the job's own packages (`bootstrap`).
    """
    started = time.monotonic()
    with scratch.folder("job") as folder, contextlib.closing(_Pipes()) as pipes:
        made(python)
        layer = folder / REDIRECTED
        layer.mkdir()
        places = chosen.mount_points() if spec.isolation == "overlay" else ()
        spec = replace(spec, layer=str(layer), mount_points=places, ends_in_s=limits.left_s)
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
            output = Output(process.stdout)
            try:
                follow(process, pipes.facts_out, job, limits, on_phase, on_facts)
            except KeyboardInterrupt:
                job.interrupted = True
            finally:
                _end(process)
            job.log_tail = job.cells.text(output.tail()) if job.cells else output.tail()
        _note_isolation(job, spec, folder)
    job.exit_code = process.returncode
    job.wall_s = time.monotonic() - started
    return job


def _note_isolation(job: JobRun, spec: JobSpec, folder: Path) -> None:
    """Add to an ended job what its isolation held back, and whether memory ended it."""
    outcome = chosen.ended(folder)
    if outcome is not None:
        job.short_of_memory = bool(outcome.memory)
        job.timed_out = outcome.memory or job.timed_out
        job.writes = outcome.writes
    elif spec.isolation in ("refused", "none"):
        job.writes = Writes(isolation=spec.isolation)
    hidden = job.facts.get("hidden_files")
    if job.writes is not None and isinstance(hidden, int):
        job.writes = replace(job.writes, removed=job.writes.removed + hidden)


class _Pipes:
    """The pipes for the job's facts, and for noticing the tool's death in the launcher."""

    def __init__(self) -> None:
        self.facts_out, self.facts_in = os.pipe()
        self.alive_out, self._alive_in = os.pipe()
        self.held_open = scratch.lifeline()
        """-1 where nothing keeps the folder."""
        both = (self.alive_out, self.held_open) if LAUNCHED else ()
        self.for_launcher = tuple(each for each in both if each >= 0)

    def close(self) -> None:
        """Close the tool's own end; `facts_out` is closed by its reader."""
        os.close(self._alive_in)

    def started(self) -> None:
        """The job has its ends now."""
        os.close(self.facts_in)
        os.close(self.alive_out)


def _command(
    spec: JobSpec, python: JobPython, folder: Path, pipes: _Pipes, inherited: list[int]
) -> list[str]:
    own = [python.path, "-B", str(BOOTSTRAP), encoded_spec(spec), str(pipes.facts_in)]
    if not LAUNCHED:
        return own
    means = (
        chosen.means(str(Path.cwd()))
        if spec.isolation == "overlay"
        else IsolationMeans(spec.isolation)
    )
    wanted = chosen.of(
        means,
        own,
        folder,
        spares=spec.rehearse,
        offline=spec.offline,
        shared=tuple(_own_folders(spec)),
        lifeline=pipes.alive_out,
        held_open=pipes.held_open,
        passed=tuple(inherited),
        keep=spec.keep,
    )
    return chosen.command(wanted)


def _own_folders(spec: JobSpec) -> Iterator[str]:
    """The folders read after the job, or in which the user lets it save."""
    for folder in (spec.log_dir, spec.lower_to, *spec.writable):
        if folder and "://" not in folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            yield os.path.abspath(folder)  # noqa: PTH100 (as the job names it: nothing resolved)


def _temporary(spec: JobSpec, folder: Path) -> dict[str, str]:
    """Variables with a folder for a rehearsal's temporary files, which is removed with them.

    The job skips Python's exit handlers, and AutoGraph alone leaves a file per function.
    """
    if not spec.rehearse:
        return {}
    (folder / "tmp").mkdir()
    return {"TMPDIR": str(folder / "tmp"), "TPU_LOG_DIR": str(folder / "tmp")}


def added_variables(spec: JobSpec) -> dict[str, str]:
    """Variables added to the user's environment: no accelerator and no hub are searched."""
    if not spec.rehearse:
        return {}
    # Without the second, libtpu queries the metadata server, and waits for it off Google Cloud.
    variables = {"CUDA_VISIBLE_DEVICES": "-1", "TPU_SKIP_MDS_QUERY": "1"}
    if spec.fake_data:
        variables |= {name: "1" for name in _HUBS if name not in os.environ}
    text = _text_of(spec.program)
    for name, value in _TPU_NAMES.items():
        # A script with its own default works without the variable, and its default is used.
        without_default = rf"""["']{name}["'](?!\s*,\s*["'][^"'])"""
        without = re.search(without_default, text) and re.search("environ|getenv", text)
        if without and name not in os.environ:
            variables[name] = value
    return variables


def _text_of(program: str) -> str:
    with suppress(OSError, ValueError):
        return Path(program).read_text(encoding="utf-8", errors="replace")
    return ""


def _end(process: subprocess.Popen[bytes]) -> None:
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
