"""Asks the compiler for every target and batch, on as many cores as the memory allows."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from tpudiag.compiled import Compilation
from tpudiag.diagnoses import plan as plan_report
from tpudiag.diagnoses.job import JobRequest, environment_with_tensorflow, spec_of
from tpudiag.diagnoses.job_summary import INTERRUPTED
from tpudiag.errors import NothingDiagnosed
from tpudiag.hardware import GIB, Target
from tpudiag.model import Report
from tpudiag.plan import candidates
from tpudiag.plan.candidates import Plan
from tpudiag.sources import script
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.topologies import topology
from tpudiag.sources.job.process import host_memory, runner
from tpudiag.sources.job.process.lowering_client import Dialog

COMPILATION_BYTES = 3 * GIB
"""What one compilation of a large step was seen to take at most."""


@dataclass(frozen=True)
class PlanRequest:
    """What the plan is to be made of."""

    targets: tuple[Target, ...]
    batches: tuple[int, ...]
    """Per-replica batches; empty for those around the job's own."""
    prices: Mapping[str, float]
    timeout_s: float
    compile_timeout_s: float


class _Stopped(Exception):
    """The plan is over before its end."""


def explored(
    request: JobRequest,
    installed: libtpu_process.Installed,
    wanted: PlanRequest,
    on_phase: Callable[[str], None],
) -> Report:
    """The plan of a job; NothingDiagnosed where it shows no step."""
    environment_with_tensorflow()
    request = request.with_notebook()
    if script.look(request.file).is_tensorflow_1:
        raise NothingDiagnosed(f"{request.name}: a TensorFlow 1 script has no step to lower")
    plans = tuple(Plan(t, wanted.prices.get(t.generation)) for t in wanted.targets)
    partial: str | None = None
    with tempfile.TemporaryDirectory(prefix="tpudiag-") as folder:
        compiler = libtpu_process.Compiler(installed, wanted.compile_timeout_s)
        spec = spec_of(request, wanted.targets[0], True, "local", 1, folder)
        dialog = Dialog(spec, runner.Limits(wanted.timeout_s), on_phase)
        try:
            batch = dialog.wait()
            if batch is None:
                raise NothingDiagnosed(_no_step(dialog.job))
            own = batch.per_replica_batch
            tried = wanted.batches or candidates.doubled(max(own // 2, 1), own * 4)
            search = _Search(plans, tried, dialog, compiler, on_phase)
            partial = search.run(time.monotonic() + wanted.timeout_s)
        except KeyboardInterrupt:
            partial = INTERRUPTED
        finally:
            compiler.stop()
            dialog.close()
    if partial is None and not any(a.fits is not None for p in plans for a in p.answers.values()):
        raise NothingDiagnosed(_no_answer(plans))
    return plan_report.report(request.name, plans, partial)


class _Search:
    """The compilations of one plan, some at a time."""

    def __init__(
        self,
        plans: Sequence[Plan],
        batches: Sequence[int],
        dialog: Dialog,
        compiler: libtpu_process.Compiler,
        on_phase: Callable[[str], None],
    ) -> None:
        self._plans, self._batches = plans, sorted(set(batches))
        self._dialog, self._compiler, self._on_phase = dialog, compiler, on_phase
        self._done = 0

    def run(self, deadline: float) -> str | None:
        """Try all; why it is not whole, None where it is."""
        with ThreadPoolExecutor(workers()) as pool:
            try:
                grid = [(p, b) for b in self._batches for p in self._plans]
                self._finish([pool.submit(self._try, p, b) for p, b in grid], deadline)
                self._finish([pool.submit(self._bisect, p) for p in self._plans], deadline)
            except _Stopped:
                return "the plan took longer than --timeout allows"
            finally:
                self._compiler.stop()
                self._dialog.close()
                pool.shutdown(wait=False, cancel_futures=True)
        return None

    def _finish(self, futures: list[Future[None]], deadline: float) -> None:
        """Wait for some compilations, in short waits, so that Ctrl-C is heard."""
        while wait(futures, timeout=0.2).not_done:
            if time.monotonic() > deadline:
                raise _Stopped
        for future in futures:
            future.result()

    def _try(self, plan: Plan, batch: int) -> None:
        """One batch on one target, where no smaller one was refused."""
        refused = plan.smallest_refused()
        if refused is not None and batch > refused:
            plan.skipped.add(batch)
            return
        answer = self._ask(plan.target, batch)
        if not self._compiler.stopped:
            plan.answers[batch] = answer

    def _bisect(self, plan: Plan) -> None:
        """The largest batch that fits, closer and closer."""
        for _ in range(candidates.BISECTIONS):
            middle = plan.middle()
            if middle is None or self._compiler.stopped:
                return
            self._try(plan, middle)
            if middle not in plan.answers or plan.answers[middle].fits is None:
                return

    def _ask(self, target: Target, batch: int) -> Compilation:
        """Lower and compile; says what is being done."""
        self._on_phase(f"{target.name}, batch {batch}: compiling ({self._done} done)")
        step = self._dialog.lower(batch, topology(target).replicas)
        answer = self._compiler.compile(step, target)
        self._done += 1
        return answer


def workers() -> int:
    """Compilations at a time: one a core, as many as the memory holds."""
    return max(1, min(os.cpu_count() or 1, host_memory.available_bytes() // COMPILATION_BYTES))


def _no_step(job: runner.JobRun) -> str:
    """Why the job showed no step, in one line."""
    end = job.facts.get("end")
    said = end.get("error") if isinstance(end, dict) else None  # pyright: ignore
    if job.timed_out:
        return job.timed_out
    if isinstance(said, str):
        return f"the job crashed before its first training step: {said.splitlines()[0][:300]}"
    if job.exit_code:
        last = [line for line in job.log_tail.strip().splitlines() if line.strip()]
        return f"the job died before its first training step: {(last or ['no output'])[-1][:300]}"
    return "the job ended without a training step under strategy.run or Keras fit"


def _no_answer(plans: Sequence[Plan]) -> str:
    """Why the compiler said nothing at all, in one line."""
    errors = [a.error for plan in plans for a in plan.answers.values() if a.error]
    said = errors[0].strip().splitlines() if errors else ["it was not asked"]
    return f"the step was compiled for none of the TPUs: {said[0][:300]}"
