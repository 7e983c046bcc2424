"""The TPU compiler on the workers of a Dask cluster: each compiles with its own libtpu.

A worker needs tpudiag with its extra `compiler`. What its compiler said is kept here, as of this
machine's own.
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from tpudiag import scratch
from tpudiag.compiled import Compilation, LoweredStep
from tpudiag.hardware import Target
from tpudiag.hardware import target as target_of
from tpudiag.sources.compiler import compiler_child, libtpu_process
from tpudiag.sources.compiler.libtpu_process import Compiler, Installed, unanswered
from tpudiag.sources.dask_cluster import Cluster, Lost

MOST_AT_A_TIME = 64

Compile = Callable[[str, LoweredStep, str, float], Compilation]


def compiled_here(program: str, step: LoweredStep, target: str, timeout_s: float) -> Compilation:
    """A step's program compiled in this process, on a worker, for the named target."""
    installed = libtpu_process.find()
    with scratch.folder("step") as folder:
        file = folder / "step.mlir"
        file.write_text(program, encoding="utf-8")
        # The program is sent as text: a worker on another machine does not see our files.
        there = replace(step, path=str(file), locations_path=None)
        if installed is None:
            there, installed = replace(step, path=None, error=NO_COMPILER), Installed("", "none")
        return Compiler(installed, timeout_s).compile(there, target_of(target))


NO_COMPILER = f"a worker of the cluster has no TPU compiler: {libtpu_process.INSTALL}"


class ClusterCompiler:
    """Compiles lowered steps on a cluster; otherwise like this machine's Compiler."""

    def __init__(self, address: str, timeout_s: float, compile_: Compile = compiled_here) -> None:
        self._option = f"--dask {address}"
        self._cluster = Cluster(self._option, address.partition("://")[2])
        self._timeout_s, self._compile = timeout_s, compile_

    @property
    def at_a_time(self) -> int:
        """Compilations that its workers take together: one a worker, each keeps its cores busy."""
        return max(1, min(self._cluster.workers(), MOST_AT_A_TIME))

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called: answers that came after it are none."""
        return self._cluster.closed

    def stop(self) -> None:
        """Ask for nothing more; safe to call twice."""
        self._cluster.close()

    def compile(self, step: LoweredStep, target: Target) -> Compilation:
        """A worker's answer for one step on one target; an error where there is none."""
        empty = unanswered(step, target, step.replicas, self._option)
        if step.path is None:
            return replace(empty, error=step.error or "the step was not lowered")
        try:
            path = compiler_child.as_stablehlo(step.path, sys.executable)
            program = Path(path).read_text(encoding="utf-8")
            answer: Compilation = self._cluster.ask(
                self._compile, program, step, target.name, self._timeout_s
            )
        except (Lost, compiler_child.NotConverted, OSError, ValueError) as error:
            return replace(empty, error=f"the cluster did not compile it: {error}")
        return answer
