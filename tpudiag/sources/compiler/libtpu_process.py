"""Runs the TPU compiler in child processes: bounded waits, a cache, and clear answers."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import msgspec

from tpudiag.compiled import Compilation, LoweredStep, OutOfMemory
from tpudiag.errors import UsageError
from tpudiag.hardware import GIB, Target
from tpudiag.prediction.step import predict
from tpudiag.sources.compiler import cache, hlo, older_programs, stablehlo
from tpudiag.sources.compiler.topologies import Topology, topology

CHILD = Path(__file__).with_name("child.py")
MISSING = "the TPU compiler is not installed"
INSTALL = "pip install 'tpudiag[compiler]', or name a Python that has it: --compiler-python"
PROBE = (
    "import importlib.metadata as m; print('libtpu', m.version('libtpu') + ', jax', "
    "m.version('jax'))"
)
PROBE_S = 60.0
SPARED = "--xla_jf_lsra_v2_verifier=false --xla_jf_critical_path_scheduler=false"
"""What libtpu (0.0.52) leaves out when it makes machine code: a check of its own registers, and an
order of the instructions within an operation. The program, its cycles and its HBM stay the same;
the code is 2 % larger, and a compilation of ResNet-50 takes a fifth less CPU time."""
_UNKNOWN_FLAG = "Unknown command line flag"
_OUT_OF_MEMORY = re.compile(r"RESOURCE_EXHAUSTED|Ran out of memory|CompileTimeHbmOom")
_NEED = (
    re.compile(r"(?:HLO temporaries|total memory required)[^(]*\(([\d.]+)([KMGT])?\)"),
    re.compile(r"Used ([\d.]+)([KMGT])? of"),
)
_USABLE = (
    re.compile(r"exceeds available HBM \(([\d.]+)([KMGT])?\)"),
    re.compile(r"Used [\d.]+[KMGT]? of ([\d.]+)([KMGT])? hbm"),
)
_SCALE = {"": 1, "K": 2**10, "M": 2**20, "G": GIB, "T": 2**40}


class _Answer(msgspec.Struct):
    """What the child left."""

    compile_s: float
    error: str | None = None
    argument_bytes: int | None = None
    output_bytes: int | None = None
    alias_bytes: int | None = None
    temporary_bytes: int | None = None
    code_bytes: int | None = None
    flops: float | None = None


@dataclass(frozen=True)
class Installed:
    """A Python with the TPU compiler, and its versions: `libtpu 0.0.51, jax 0.10.2`."""

    python: str
    versions: str


def find(python: str | None = None) -> Installed | None:
    """The compiler of this Python, or of the one named; None where it has none."""
    command = python or sys.executable
    try:
        done = subprocess.run(
            [command, "-c", PROBE],
            capture_output=True,
            text=True,
            timeout=PROBE_S,
            check=False,
            stdin=subprocess.DEVNULL,
            env=_environment(),
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--compiler-python {command}: {_line(error)}") from error
    versions = done.stdout.strip()
    return Installed(command, versions) if done.returncode == 0 and versions else None


def timed(answer: Compilation, target: Target, steps_per_dispatch: int = 1) -> Compilation:
    """With the step that its program is predicted to take on the target."""
    program = answer.program
    if program is None or program.work is None:
        return answer
    step = predict(program.work, target, answer.batch, answer.replicas, steps_per_dispatch)
    return replace(answer, predicted=step)


class Compiler:
    """Compiles lowered steps; `stop` ends what is under way, from any thread."""

    def __init__(self, installed: Installed, timeout_s: float) -> None:
        self._installed, self._timeout_s = installed, timeout_s
        self._flags = SPARED
        self._running: set[subprocess.Popen[bytes]] = set()
        self._lock = threading.Lock()
        self._stopped = False

    def compile(self, step: LoweredStep, target: Target) -> Compilation:
        """The compiler's answer for one step on one target, from the cache where it is there."""
        slice_ = topology(target)
        empty = Compilation(
            target=target.name,
            batch=step.batch,
            replicas=slice_.replicas,
            compiler=self._installed.versions,
            usable_bytes=target.hardware.usable_hbm_bytes,
        )
        if step.path is None:
            return replace(empty, error=step.error or "the step was not lowered")
        try:
            path = older_programs.as_stablehlo(step.path, self._installed.python)
        except older_programs.NotConverted as why:
            return replace(empty, error=str(why))
        program = Path(path).read_text(encoding="utf-8")
        name = cache.key(program, slice_, self._installed.versions)
        # A plan asks again and again for the same program: bisections of one run are the first
        # answers of the next.
        known = cache.load(name)
        if known is not None:
            known = replace(known, target=target.name, batch=step.batch, cached=True)
            return timed(known, target, step.steps_per_dispatch)
        answer = self._run(path, slice_, program, empty)
        # Errors are not kept: a time limit, a full disk or a missing package may be gone the next
        # time.
        if answer.fits is not None:
            cache.save(name, answer)
        return timed(answer, target, step.steps_per_dispatch)

    def stop(self) -> None:
        """End every compilation; those that wait end at once, too."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                _kill(process)

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called: answers that came after it are none."""
        return self._stopped

    def _run(self, path: str, slice_: Topology, program: str, empty: Compilation) -> Compilation:
        """Compile in a child process, and read what it leaves."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="tpudiag-") as name:
            folder = Path(name)
            failure = self._child(path, slice_, folder)
            if failure and _UNKNOWN_FLAG in failure and self._flags:
                self._flags = ""  # another libtpu, which ends at a flag that it does not know
                failure = self._child(path, slice_, folder)
            took_s = time.monotonic() - started
            try:
                answer = msgspec.json.decode((folder / "answer.json").read_bytes(), type=_Answer)
            except (OSError, msgspec.MsgspecError):
                return replace(empty, error=failure or "it left no answer", took_s=took_s)
            if answer.error is not None:
                return _refused(answer, program, replace(empty, took_s=took_s))
            printed = folder / "optimised.hlo"
            text = printed.read_text(encoding="utf-8") if printed.exists() else None
        return replace(
            empty,
            argument_bytes=answer.argument_bytes or 0,
            output_bytes=answer.output_bytes or 0,
            alias_bytes=answer.alias_bytes or 0,
            temporary_bytes=answer.temporary_bytes or 0,
            code_bytes=answer.code_bytes or 0,
            flops=answer.flops or 0.0,
            compiled=True,
            program=None if text is None else hlo.read(text),
            dynamic=stablehlo.dynamic(program),
            took_s=took_s,
        )

    def _child(self, path: str, slice_: Topology, folder: Path) -> str | None:
        """Run the child to its end; how it failed, None where it did not."""
        log = folder / "log"
        with log.open("wb") as stream, self._lock:
            if self._stopped:
                return "it was stopped"
            # Under the lock: between the look at `_stopped` and the start, `stop` would find
            # nothing to end, and a compilation of minutes would go on alone.
            process = subprocess.Popen(
                [
                    self._installed.python,
                    str(CHILD),
                    path,
                    slice_.name,
                    str(slice_.replicas),
                    slice_.chip_config,
                    str(folder),
                ],
                stdin=subprocess.DEVNULL,
                stdout=stream,
                stderr=subprocess.STDOUT,
                # Ctrl-C goes to the whole group of a terminal: the child ends by our word alone.
                start_new_session=True,
                env=_environment(self._flags),
            )
            self._running.add(process)
        try:
            # While C++ compiles no handler of Python's runs, and it may hang: so it is waited for
            # with a limit, and ended from outside.
            code = process.wait(timeout=self._timeout_s)
        except subprocess.TimeoutExpired:
            return f"it took longer than {self._timeout_s:.0f} s (--compile-timeout)"
        finally:
            _kill(process)
            with self._lock:
                self._running.discard(process)
        if self._stopped:
            return "it was stopped"
        ended = f"ended by signal {-code}" if code < 0 else f"ended with code {code}"
        return None if code == 0 else f"the TPU compiler {ended}: {_last_line(log)}"


def _environment(flags: str = "") -> dict[str, str]:
    """The child's environment: no flags but ours, for libtpu; no other tool's path."""
    # Flags meant for another release: one in XLA_FLAGS that is not known ends the process at once.
    dropped = ("XLA_FLAGS", "LIBTPU_INIT_ARGS", "PYTHONPATH")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    if flags:
        kept["LIBTPU_INIT_ARGS"] = flags
    return kept | {"PYTHONSAFEPATH": "1"}  # as -P, which Python 3.10 refuses


def _refused(answer: _Answer, program: str, empty: Compilation) -> Compilation:
    """A program that the compiler did not take: too large for HBM, or refused."""
    error = answer.error or ""
    # The compiler says RESOURCE_EXHAUSTED also where a kernel does not fit the chip's small
    # memories, which no smaller batch mends.
    at_hbm = _OUT_OF_MEMORY.search(error) and not re.search(r"vmem|smem", error)
    if not at_hbm:
        return replace(empty, error=error[:2000], dynamic=stablehlo.dynamic(program))
    return replace(
        empty,
        out_of_memory=OutOfMemory(
            error.partition("\n")[0].removeprefix("JaxRuntimeError: ")[:2000],
            _amount(error, _NEED),
            _amount(error, _USABLE),
            stablehlo.largest(program),
        ),
    )


def _amount(text: str, patterns: tuple[re.Pattern[str], ...]) -> int | None:
    """The first size that a message names, in bytes."""
    for pattern in patterns:
        match = pattern.search(text)
        if match:
            return int(float(match[1]) * _SCALE[match[2] or ""])
    return None


def _kill(process: subprocess.Popen[bytes]) -> None:
    """End a child and what it started: it runs in a session of its own."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _last_line(log: Path) -> str:
    """The last words of a child that died."""
    with contextlib.suppress(OSError):
        lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        # libtpu ends by a CHECK: the line that begins with F and the date (glog) says why, those
        # behind it are its stack.
        fatal = [line for line in lines if re.match(r"F\d{4}|.*(Error|fatal)", line)]
        return (fatal or lines or ["it said nothing"])[-1].strip()[:300]
    return "it said nothing"


def _line(error: BaseException) -> str:
    """An error on one line."""
    return " ".join(str(getattr(error, "strerror", None) or error).split())
