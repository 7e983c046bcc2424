"""Compiles every target and batch, on as many cores as the memory allows."""

import os
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait

from tpudiag.compiled import Compilation
from tpudiag.hardware import GIB
from tpudiag.phases import OnPhase, Phase
from tpudiag.planning import candidates
from tpudiag.planning.candidates import Plan
from tpudiag.planning.kept_steps import Steps
from tpudiag.sources.compiler.dask_compiler import ClusterCompiler
from tpudiag.sources.compiler.libtpu_process import Compiler
from tpudiag.sources.compiler.topologies import topology
from tpudiag.sources.job.process import host_memory

COMPILATION_BYTES = 3 * GIB
"""The largest memory seen for one compilation of a large step."""


StepCompiler = Compiler | ClusterCompiler
"""The TPU compiler, wherever it runs; may be called from any thread."""


class Search:
    """The compilations of one plan, several at a time."""

    def __init__(
        self,
        plans: Sequence[Plan],
        batches: Sequence[int],
        steps: Steps,
        compiler: StepCompiler,
        on_phase: OnPhase,
        *,
        at_a_time: int | None = None,
    ) -> None:
        self._plans, self._batches = plans, sorted(set(batches))
        self._steps, self._compiler, self._on_phase = steps, compiler, on_phase
        # One per core, as memory allows.
        here = min(os.cpu_count() or 1, host_memory.available_bytes() // COMPILATION_BYTES)
        self._at_a_time = max(1, here) if at_a_time is None else at_a_time
        self._done, self._planned = 0, len(self._plans) * len(self._batches)
        self._began = time.monotonic()

    def run(self, deadline: float) -> str | None:
        """Try everything; returns why the plan is partial, None where it is complete."""
        with ThreadPoolExecutor(self._at_a_time) as pool:
            try:
                # Batches in the outer loop: the smallest of all targets come first, so that
                # refusals save the larger ones, and a plan that is cut short has a row of each
                # target.
                grid = [(p, b) for b in self._batches for p in self._plans]
                if not (
                    self._finish([pool.submit(self._try, p, b) for p, b in grid], deadline)
                    and self._finish([pool.submit(self._bisect, p) for p in self._plans], deadline)
                ):
                    return "the plan took longer than --timeout allows"
            finally:
                self._compiler.stop()
                self._steps.close()
                # No wait: the compilers were killed above, which ends their threads.
                pool.shutdown(wait=False, cancel_futures=True)
        return None

    def _finish(self, futures: list[Future[None]], deadline: float) -> bool:
        """Whether they ended in time; waits in short waits, so that Ctrl-C is handled."""
        while wait(futures, timeout=0.2).not_done:
            if time.monotonic() > deadline:
                return False
        for future in futures:
            future.result()
        return True

    def _try(self, plan: Plan, batch: int) -> None:
        """Try one batch on one target, unless a smaller one was refused."""
        refused = plan.smallest_refused()
        if refused is not None and batch > refused:
            plan.skipped.add(batch)
            self._planned -= 1
            return
        answer = self._ask(plan, batch)
        # An answer after the stop is the stop's own error.
        if not self._compiler.stopped:
            plan.answers[batch] = answer

    def _bisect(self, plan: Plan) -> None:
        for _ in range(candidates.BISECTIONS):
            middle = plan.middle()
            if middle is None or self._compiler.stopped:
                return
            self._planned += 1
            self._try(plan, middle)
            # A failed answer moves neither end: the next middle would be the same.
            if middle not in plan.answers or plan.answers[middle].fits is None:
                return

    def _ask(self, plan: Plan, batch: int) -> Compilation:
        target = plan.target
        phase = f"{target.name}, batch {batch}: compiling{self._left()}"
        self._on_phase(Phase(phase, self._done, self._planned))
        step = self._steps.lower(batch, 1 if plan.alone else topology(target).replicas)
        answer = self._compiler.compile(step, target)
        self._done += 1
        return answer

    def _left(self) -> str:
        """An estimate of the time for the known remaining compilations."""
        left = self._planned - self._done
        if not self._done or left <= 0:
            return ""
        left_s = (time.monotonic() - self._began) / self._done * left
        return (
            f", about {left_s / 60:.0f} min left" if left_s > 90 else f", about {left_s:.0f} s left"
        )
