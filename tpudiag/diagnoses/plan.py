"""Recommends a TPU and a batch for a job: its step is compiled for each, without a TPU."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tpudiag import hardware, scratch
from tpudiag.diagnoses import job_summary, not_sent, plan_report
from tpudiag.diagnoses.job import spec_of
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.job_summary import INTERRUPTED
from tpudiag.errors import MissingExtra, NothingDiagnosed, UsageError
from tpudiag.hardware import Target
from tpudiag.installs import state as installs
from tpudiag.model import Framework, Report
from tpudiag.options.kinds import doubled
from tpudiag.options.verbs import request_of
from tpudiag.phases import OnPhase
from tpudiag.planning import prices
from tpudiag.planning.candidates import Plan
from tpudiag.planning.kept_steps import Steps, StepsByDevices, name_of
from tpudiag.planning.search import Search, StepCompiler
from tpudiag.settings import Settings
from tpudiag.signals import Origin
from tpudiag.sources import script
from tpudiag.sources.compiler import libtpu_process
from tpudiag.sources.compiler.dask_compiler import ClusterCompiler
from tpudiag.sources.job.process import facts, following
from tpudiag.sources.job.process.following import JobRun
from tpudiag.sources.job.process.job_python import environment_of
from tpudiag.sources.job.process.lowering_client import Dialog


@dataclass(frozen=True, kw_only=True)
class PlanRequest:
    """The plan's settings; the job's own target is the first of `targets`."""

    job: JobRequest
    installed: libtpu_process.Installed
    targets: tuple[Target, ...]
    batches: tuple[int, ...] = ()
    """Per-replica batches; empty for those around the job's own."""
    prices: Mapping[str, float] = field(default_factory=dict[str, float])
    """Prices of a chip-hour, by generation."""
    examples: float | None = None
    """The examples of the whole training, all epochs, for its time and cost."""
    epochs: float = 1
    timeout_s: float
    compile_timeout_s: float
    dask: str | None = None
    """`tcp://scheduler:8786`: its workers compile, each with its own compiler."""


def requested(by_name: Mapping[str, Any], job: Callable[[str], JobRequest]) -> PlanRequest:
    """A plan's settings; `job` makes that of a target. Raises UsageError, MissingExtra."""
    targets = tuple(hardware.sold_target(name) for name in dict.fromkeys(by_name["targets"]))
    if not targets:
        raise UsageError("--for: name at least one TPU, e.g. v5e-8")
    examples, epochs, cost = by_name["examples"], by_name["epochs"], by_name["cost"]
    if examples is None and epochs is not None:
        raise UsageError("--epochs: say with --examples how many examples the data set has")
    known = {} if cost is None else prices.load(Path(cost))
    installed = installed_compiler(by_name["compiler_python"], by_name.get("dask"))
    # Last, for it makes a folder. The job is started once, and stopped at its first step, which is
    # lowered for any replicas.
    up_to_its_step = replace(
        job(targets[0].name), warmup_steps=1, tpu_timeout_s=1.0, measure_input_s=0.0, rest_s=0.0
    )
    return request_of(
        PlanRequest,
        by_name,
        prices=known,
        job=up_to_its_step,
        installed=installed,
        targets=targets,
        batches=tuple(by_name["batch"]),
        examples=None if examples is None else examples * (epochs or 1),
        epochs=epochs or 1,
    )


def installed_compiler(python: str | None, dask: str | None = None) -> libtpu_process.Installed:
    """The TPU compiler of this Python, the named one, or the workers'; raises MissingExtra."""
    installed = libtpu_process.find(python)
    if installed is None and dask:
        installed = libtpu_process.Installed("", f"of the workers of {dask}")
    if installed is None:
        raise MissingExtra(f"{libtpu_process.MISSING}: {libtpu_process.INSTALL}")
    return installed


def diagnose(
    request: PlanRequest, settings: Settings, on_phase: OnPhase = lambda _: None
) -> Report:
    """The plan of a job; NothingDiagnosed where it shows no step."""
    del settings  # the plan judges one thing, whatever is selected
    job = request.job.with_notebook()
    if script.look(job.file).is_tensorflow_1:
        raise NothingDiagnosed(f"{job.name}: a TensorFlow 1 script has no step to lower")
    of_jax = job.framework is Framework.JAX
    plans = tuple(Plan(t, request.prices.get(t.generation)) for t in request.targets)
    partial: str | None = None
    interrupted = False
    with scratch.folder("plan") as folder:
        compiler, at_a_time = _compiler(request)
        # One replica: the step is lowered but not run, and more would only take memory.
        spec = spec_of(job, True, "local", 1, str(folder))
        limits = following.Limits(request.timeout_s)

        def named(replicas: int) -> tuple[str, Callable[[], Dialog]]:
            own = replace(spec, replicas=replicas) if of_jax else spec
            return name_of(own, job.python), lambda: Dialog(own, job.python, limits, on_phase)

        steps = StepsByDevices(spec.replicas, named) if of_jax else Steps(*named(spec.replicas))
        try:
            batch = steps.wait()
            if batch is None:
                raise NothingDiagnosed(_no_step(_run_of(steps)))
            for plan in plans:
                plan.alone = steps.alone
            own = batch.per_replica_batch
            # From half of the job's batch, in case that does not fit, to four times; the search for
            # the largest that fits continues by itself.
            tried = request.batches or doubled(max(own // 2, 1), own * 4)
            search = Search(plans, tried, steps, compiler, on_phase, at_a_time=at_a_time)
            partial = search.run(time.monotonic() + request.timeout_s)
        except KeyboardInterrupt:
            partial, interrupted = INTERRUPTED, True
        finally:
            compiler.stop()
            steps.close()
    # The empty rows of a plan that was cut short are no failure of the compiler.
    if partial is None and not any(a.fits is not None for p in plans for a in p.answers.values()):
        errors = [a.error for plan in plans for a in plan.answers.values() if a.error]
        first = (errors or ["it was not asked"])[0].strip().partition("\n")[0]
        raise NothingDiagnosed(f"the step was compiled for none of the TPUs: {first[:300]}")
    report = plan_report.report(
        job.name, plans, partial, request.examples, steps.reused,
        epochs=request.epochs, framework=job.framework,
    )  # fmt: skip
    return _with_job(replace(report, interrupted=interrupted), job, request, _run_of(steps))


def _run_of(steps: Steps) -> JobRun:
    """The job that lowered the steps; an empty one where an earlier plan kept them all."""
    return steps.dialog.job if steps.dialog else JobRun()


def _with_job(report: Report, job: JobRequest, request: PlanRequest, run: JobRun) -> Report:
    """The plan, with facts of the job that it was made from."""
    signals = facts.signals(Origin.REHEARSAL, run.facts)
    return replace(
        report,
        environment=job_summary.environment(job.python, request.installed.versions),
        notes=(*report.notes, *not_sent.notes(signals), installs.note(environment_of(job.python))),
        writes=not_sent.with_sends(run.writes, signals),
    )


def _compiler(request: PlanRequest) -> tuple[StepCompiler, int | None]:
    """The compiler of this machine or of a cluster, and the cluster's number of parallel steps."""
    if not request.dask:
        return libtpu_process.Compiler(request.installed, request.compile_timeout_s), None
    cluster = ClusterCompiler(request.dask, request.compile_timeout_s)
    return cluster, cluster.at_a_time


def _no_step(job: JobRun) -> str:
    """Why the job reached no step, in one line."""
    end = job.facts.get("end")
    error = end.get("error") if isinstance(end, dict) else None  # pyright: ignore
    if job.timed_out:
        return job.timed_out
    if isinstance(error, str):
        return f"the job crashed before its first training step: {error.splitlines()[0][:300]}"
    if job.exit_code:
        last = [line for line in job.log_tail.strip().splitlines() if line.strip()]
        return f"the job died before its first training step: {(last or ['no output'])[-1][:300]}"
    if job.facts.get("step_inputs"):
        return (
            "the batch of the training step is not known: its inputs have no fixed first dimension "
            "(batch the dataset with drop_remainder=True)"
        )
    if job.facts.get("framework") == Framework.JAX.value:
        return "the job ended without a training step of jax.jit that has a batch"
    return "the job ended without a training step under strategy.run or Keras fit"
