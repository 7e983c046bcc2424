"""Runs the TPU compiler in child processes: limited waits, a cache, and clear answers."""

import re
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

from tpudiag.compiled import Compilation, LoweredStep, OutOfMemory
from tpudiag.errors import UsageError, line_of
from tpudiag.hardware import GIB, Target
from tpudiag.prediction.step import predict
from tpudiag.sources.compiler import cache, compiler_child, hlo, stablehlo
from tpudiag.sources.compiler.compiler_child import CompilerChild, Made, environment
from tpudiag.sources.compiler.topologies import Topology, topology

MISSING = "the TPU compiler is not installed"
INSTALL = "pip install 'tpudiag[compiler]', or name a Python that has it: --compiler-python"
PROBE = (
    "import importlib.metadata as m; print('libtpu', m.version('libtpu') + ', jax', "
    "m.version('jax'))"
)
PROBE_S = 60.0
SPARED = "--xla_jf_lsra_v2_verifier=false --xla_jf_critical_path_scheduler=false"
"""Parts of libtpu's (0.0.52) code generation that are skipped: a verification of registers, and an
order of instructions within an operation. The program, its cycles and its HBM stay the same; the
code is 2 % larger, and a compilation of ResNet-50 takes a fifth less CPU time."""
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


@dataclass(frozen=True)
class Installed:
    """A Python with the TPU compiler, and its versions: `libtpu 0.0.51, jax 0.10.2`."""

    python: str
    versions: str


def find(python: str | None = None) -> Installed | None:
    """The compiler of this Python, or of the named one; None where it has none."""
    command = python or sys.executable
    try:
        done = subprocess.run(
            [command, "-c", PROBE], capture_output=True, text=True, timeout=PROBE_S, check=False,
            stdin=subprocess.DEVNULL, env=environment(),
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--compiler-python {command}: {line_of(error)}") from error
    versions = done.stdout.strip()
    return Installed(command, versions) if done.returncode == 0 and versions else None


def timed(answer: Compilation, target: Target, steps_per_dispatch: int = 1) -> Compilation:
    """The answer with the predicted step of its program on the target."""
    program = answer.program
    if program is None or program.work is None:
        return answer
    step = predict(program.work, target, answer.batch, answer.replicas, steps_per_dispatch)
    return replace(answer, predicted=step)


def unanswered(step: LoweredStep, target: Target, replicas: int, by: str) -> Compilation:
    """What is known of a compilation before its answer."""
    return Compilation(
        target=target.name,
        batch=step.batch,
        replicas=replicas,
        compiler=by,
        usable_bytes=target.hardware.usable_hbm_bytes,
    )


class Compiler:
    """Compiles lowered steps; `stop` ends them, from any thread."""

    def __init__(self, installed: Installed, timeout_s: float) -> None:
        self._installed, self._timeout_s = installed, timeout_s
        self._flags = SPARED
        self._running: set[CompilerChild] = set()
        self._ready: dict[Topology, CompilerChild] = {}
        self._lock = threading.Lock()
        self.stopped = False
        """Whether `stop` was called: later answers are ignored."""

    def prepare(self, target: Target) -> None:
        """Load the compiler for this target in a child that waits for its program.

        Loading takes as long as compiling a small step. The child dies with the calling thread.
        """
        slice_ = topology(target)
        with self._lock:
            if not self.stopped and slice_ not in self._ready:
                self._ready[slice_] = self._started(slice_)

    def compile(self, step: LoweredStep, target: Target) -> Compilation:
        """The compiler's answer for one step on one target, possibly cached."""
        slice_ = topology(target)
        empty = unanswered(step, target, slice_.replicas, self._installed.versions)
        if step.path is None:
            return replace(empty, error=step.error or "the step was not lowered")
        try:
            path = compiler_child.as_stablehlo(step.path, self._installed.python)
        except compiler_child.NotConverted as why:
            return replace(empty, error=str(why))
        program = Path(path).read_text(encoding="utf-8")
        name = cache.key(program, slice_, self._installed.versions)
        # A plan needs the same program repeatedly: bisections of one run are the first answers of
        # the next.
        known = cache.load(name)
        if known is not None:
            known = replace(known, target=target.name, batch=step.batch, cached=True)
            return timed(known, target, step.steps_per_dispatch)
        answer = self._run(path, slice_, program, empty)
        # Errors are not cached: a time limit, a full disk or a missing package may be gone next
        # time.
        if answer.fits is not None:
            cache.save(name, answer)
        return timed(answer, target, step.steps_per_dispatch)

    def stop(self) -> None:
        """End every compilation, and release waiting callers."""
        with self._lock:
            self.stopped = True
            for child in self._running:
                child.kill()
            for child in self._ready.values():
                child.close()

    def _run(self, path: str, slice_: Topology, program: str, empty: Compilation) -> Compilation:
        started = time.monotonic()
        made = self._made(path, slice_)
        if made.failure and _UNKNOWN_FLAG in made.failure and self._flags:
            self._flags = ""  # another libtpu, which rejects unknown flags
            made = self._made(path, slice_)
        empty = replace(empty, took_s=time.monotonic() - started)
        if made.error is not None:
            return _refused(made.error, program, empty)
        if not made.amounts:
            return replace(empty, error=made.failure)
        return replace(
            empty,
            **made.amounts,
            compiled=True,
            program=None if made.optimised is None else hlo.read(made.optimised),
            dynamic=stablehlo.dynamic(program),
        )

    def _made(self, path: str, slice_: Topology) -> Made:
        """A child's result for the program: from the prepared one, or a new one."""
        # Under the lock: between the check of `stopped` and the start, `stop` would find nothing
        # to end, and a compilation of minutes would go on alone.
        with self._lock:
            if self.stopped:
                return Made(failure="it was stopped")
            child = self._ready.pop(slice_, None) or self._started(slice_)
            self._running.add(child)
        try:
            made = child.compile(path, self._timeout_s)
        finally:
            child.close()
            with self._lock:
                self._running.discard(child)
        return Made(failure="it was stopped") if self.stopped else made

    def _started(self, slice_: Topology) -> CompilerChild:
        return CompilerChild(self._installed.python, slice_, self._flags)


def _refused(error: str, program: str, empty: Compilation) -> Compilation:
    """A program that the compiler rejected: too large for HBM, or refused."""
    # The compiler also reports RESOURCE_EXHAUSTED where a kernel exceeds the chip's small memories,
    # which no smaller batch fixes.
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
    for pattern in patterns:
        match = pattern.search(text)
        if match:
            return int(float(match[1]) * _SCALE[match[2] or ""])
    return None
