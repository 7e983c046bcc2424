"""The TPU compiler on the workers of a Dask cluster: each compiles with its own libtpu.

A worker needs tpudiag with its extra `compiler`. What its compiler said is kept here, as of this
machine's own; a step whose worker dies goes to another.
"""

import contextlib
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tpudiag import scratch
from tpudiag.compiled import Compilation, LoweredStep
from tpudiag.errors import UnreadableInput
from tpudiag.hardware import Target
from tpudiag.hardware import target as target_of
from tpudiag.sources import dask_cluster
from tpudiag.sources.compiler import libtpu_process, older_programs
from tpudiag.sources.compiler.libtpu_process import Compiler, Installed

WORKERS_S = 30.0
"""How long the cluster may be without a worker."""
LOOK_S = 0.5
ANSWER_S = 60.0
"""What sending an answer may take."""
MOST_AT_A_TIME = 64
RETRIES = 2

Compile = Callable[[str, LoweredStep, str, float], Compilation]


def compiled_here(program: str, step: LoweredStep, target: str, timeout_s: float) -> Compilation:
    """A step's program compiled where this runs, on a worker, for the target of that name."""
    installed = libtpu_process.find()
    with scratch.folder("step") as folder:
        file = folder / "step.mlir"
        file.write_text(program, encoding="utf-8")
        # The program is sent as text: a worker on another machine sees none of this one's files.
        there = replace(step, path=str(file), locations_path=None)
        if installed is None:
            there, installed = replace(step, path=None, error=NO_COMPILER), Installed("", "none")
        return Compiler(installed, timeout_s).compile(there, target_of(target))


NO_COMPILER = f"a worker of the cluster has no TPU compiler: {libtpu_process.INSTALL}"


class ClusterCompiler:
    """Compiles lowered steps on a cluster; in all else as the Compiler of this machine."""

    def __init__(self, address: str, timeout_s: float, compile_: Compile = compiled_here) -> None:
        self._option = f"--dask {address}"
        self._client = dask_cluster.connected(self._option, address.partition("://")[2])
        self._timeout_s, self._compile = timeout_s, compile_
        self._stopping = threading.Event()
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_S)
        except (OSError, TimeoutError) as error:
            self._client.close()
            raise UnreadableInput(f"{self._option}: the cluster has no worker") from error

    @property
    def at_a_time(self) -> int:
        """Compilations that its workers take together: one a worker, each keeps its cores busy."""
        known = self._client.scheduler_info(n_workers=-1)["workers"]
        return max(1, min(len(known), MOST_AT_A_TIME))

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called: answers that came after it are none."""
        return self._stopping.is_set()

    def stop(self) -> None:
        """Ask for nothing more; safe to call twice."""
        if not self._stopping.is_set():
            self._stopping.set()
            with contextlib.suppress(Exception):  # the scheduler may be gone
                self._client.close(timeout=LOOK_S)

    def compile(self, step: LoweredStep, target: Target) -> Compilation:
        """The answer of a worker for one step on one target; its error where none came."""
        empty = Compilation(
            target=target.name,
            batch=step.batch,
            replicas=step.replicas,
            compiler=self._option,
            usable_bytes=target.hardware.usable_hbm_bytes,
        )
        if step.path is None:
            return replace(empty, error=step.error or "the step was not lowered")
        try:
            path = older_programs.as_stablehlo(step.path, sys.executable)
            program = Path(path).read_text(encoding="utf-8")
            future = self._client.submit(
                self._compile,
                program,
                step,
                target.name,
                self._timeout_s,
                # pure would name the task by its arguments, and Dask would give an earlier failure
                # again.
                pure=False,
                retries=RETRIES,
            )
            return self._awaited(future, empty)
        except Exception as error:  # whatever a cluster's version or machine may raise
            return replace(
                empty, error=f"the cluster did not compile it: {dask_cluster.line(error)[:300]}"
            )

    def _awaited(self, future: Any, empty: Compilation) -> Compilation:
        """The answer as it comes, in short waits, so that `stop` is heard."""
        seen = time.monotonic()
        while not future.done():
            if self._stopping.wait(LOOK_S):
                return replace(empty, error="it was stopped")
            if self._has_workers():
                seen = time.monotonic()
            elif time.monotonic() - seen > WORKERS_S:
                return replace(empty, error="the cluster's workers went away")
        answer: Compilation = future.result(timeout=ANSWER_S)
        return answer

    def _has_workers(self) -> bool:
        """Whether the scheduler is there and knows of a worker."""
        known: dict[str, Any] = self._client.scheduler_info(n_workers=-1)
        return self._client.status == "running" and bool(known["workers"])
