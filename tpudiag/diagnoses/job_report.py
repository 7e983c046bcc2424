"""The report on a judged job: its figures, its notes, the next command."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from tpudiag.diagnoses import (
    job_summary,
    not_sent,
    plot_data,
    predicted_step,
    script_coverage,
    undiagnosed,
    unrun_commands,
)
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.report_parts import Columns, table
from tpudiag.installs import state as installs
from tpudiag.model import Framework, Outcome, Report, Subject, TargetSummary
from tpudiag.report_figures import StepSamples, Table
from tpudiag.signals import AutotuneChoice, Origin, Pipeline, Signals
from tpudiag.sources.job.process.following import JobRun

BUILT = {None: "not set", -1: "AUTOTUNE"}
"""-1 is tf.data.AUTOTUNE itself."""
AUTOTUNE: Columns[AutotuneChoice] = {
    "transformation": lambda choice: choice.transformation,
    "line": lambda choice: str(choice.location or "added by tf.data"),
    "setting": lambda choice: choice.setting,
    "as built": lambda choice: BUILT.get(choice.built_with, str(choice.built_with)),
    "AUTOTUNE chose": lambda choice: choice.chosen,
    "holds MiB": lambda choice: round(choice.held_bytes / 2**20, 2),
}
ALONE = "the pipeline alone on this machine"


@dataclass(frozen=True, kw_only=True)
class JudgedJob:
    """A job's run, and the checks' outcomes."""

    signals: Signals
    outcomes: tuple[Outcome, ...]
    run: JobRun
    started: datetime
    asked_tpu: str | None
    """The requested TPU, None for a rehearsal."""
    replicas: int
    """The number that ran."""
    not_run: bool
    """Whether it is a TensorFlow 1 script, which is read but not run."""
    profile_note: tuple[str, ...]


def report(request: JobRequest, job: JudgedJob) -> Report:
    """The whole report."""
    signals, target = job.signals, request.target
    compiled = predicted_step.of_signals(signals)
    step = predicted_step.prediction(compiled) if compiled else None
    end = signals.end
    lost = job_summary.passed_over(job.run.facts)
    # First what the rehearsal itself refused; data that is away explains a crash better than the
    # line on which it showed.
    partial = (
        not_sent.refused(signals)
        or unrun_commands.exported(end, request.file)
        or undiagnosed.unreachable(end, request.fake_data)
        or job_summary.partial(signals, job.run.timed_out, request.python.path, lost)
    )
    return Report(
        subject=Subject("job", request.name),
        target=TargetSummary(target.name, target.replicas),
        started=job.started.isoformat(timespec="seconds"),
        outcomes=job.outcomes,
        measurements={
            **job_summary.measurements(signals, job.run.wall_s),
            **predicted_step.measurements(signals),
        },
        predictions=(step,) if step else (),
        tables=(
            *((predicted_step.table(step),) if step else ()),
            *(_autotune_table(p) for p in signals.pipelines or () if p.autotuned),
        ),
        headline=_headline(request, job),
        notes=_notes(request, job),
        next_command=job_summary.next_command(request.log_dir),
        partial=partial,
        shortfall="whole" if partial else None,
        interrupted=end is not None and end.how == "interrupted",
        series=(*plot_data.of(signals), *(predicted_step.roofline(step, target) if step else ())),
        crash=end.crash if end is not None else None,
        coverage=signals.coverage,
        hook_defects=signals.hook_defects,
        environment=job_summary.environment(
            request.python, compiled.compiler if compiled else None
        ),
        samples=samples(signals),
        writes=not_sent.with_sends(job.run.writes, signals),
    )


def _headline(request: JobRequest, job: JudgedJob) -> str:
    if job.not_run:
        return job_summary.NOT_RUN
    own = job_summary.own_replicas(job.signals)
    return job_summary.headline(
        request.target,
        request.target_choice,
        job.signals.tpu,
        job.asked_tpu,
        own or _devices_of_jax(job.signals) or job.replicas,
        own=own is not None,
    )


def _notes(request: JobRequest, job: JudgedJob) -> tuple[str, ...]:
    python = f"Python of the job: {request.python}."
    signals, facts = job.signals, job.run.facts
    there = signals.environment
    installed = () if there is None else (installs.note(there),)
    other = there and request.notebook and request.notebook.other_release(there.distributions)
    if job.not_run:
        return (python, *installed)
    of_jax = signals.framework is Framework.JAX
    return (
        # First what was not seen: the first screen shows few.
        *script_coverage.urgent(
            signals.coverage,
            signals.misfits,
            signals.hook_defects,
            there.distributions if there is not None else {},
            killed=signals.end is not None and signals.end.how == "timeout",
        ),
        *job_summary.passed_over(facts),
        *job_summary.not_drawn(facts),
        *job_summary.traced_alone(facts.get("not_run")),
        *(job_summary.not_compiled(signals) if request.compiler.wanted else ()),
        *([other] if other else []),
        python,
        *(() if of_jax else installed),
        *job_summary.stood_in(signals),
        *not_sent.notes(signals),
        *(
            _notes_of_jax(signals, facts)
            if of_jax
            else job_summary.notes(signals, job.replicas, facts.get("cut_to_steps"))
        ),
        *script_coverage.notes(signals.coverage),
        *job.profile_note,
        *([note] if request.notebook and (note := request.notebook.note()) else []),
        # Last, behind those that the first screen shows.
        job_summary.not_by_hand(job.run.variables),
    )


def samples(signals: Signals) -> tuple[StepSamples, ...]:
    """What the observed steps computed, where the run had a seed."""
    trained = signals.trained
    if trained is None:
        return ()
    return (
        StepSamples("loss of a step", "", _numbers(trained.losses)),
        StepSamples(
            f"sums of the weights after {trained.steps} steps", "", _numbers(trained.weights)
        ),
    )


def _numbers(values: tuple[float | None, ...]) -> tuple[float, ...]:
    """The computed values; the job's side sends None for what is no number."""
    return tuple(math.nan if value is None else value for value in values)


def _devices_of_jax(signals: Signals) -> int | None:
    """The devices that the job found; None for another framework, or without a step."""
    return signals.sharding.here if signals.sharding is not None else None


def _notes_of_jax(signals: Signals, facts: Mapping[str, object]) -> tuple[str, ...]:
    if signals.origin is not Origin.REHEARSAL:
        return (
            "Running JAX on a TPU follows the documented API and was not verified on hardware.",
        )
    here, not_run = _devices_of_jax(signals), facts.get("step_not_run")
    found = "one CPU device" if here == 1 else f"{here or 'several'} CPU devices"
    read = (f"The step was traced, lowered and compiled, and not run: {not_run}.",)
    one = "The job is one of several processes (jax.distributed); it was rehearsed as the only one."
    return (
        f"JAX found {found} in place of the TPU's; times are those of this machine.",
        *(read if not_run else ()),
        *((one,) if facts.get("several_processes") else ()),
    )


def _autotune_table(pipeline: Pipeline) -> Table:
    speed = next((speed for speed in pipeline.speeds if speed.fix == "AUTOTUNE"), None)
    title = "tf.data AUTOTUNE"
    if speed is not None:
        title += (
            f": {speed.after_examples_per_s:,.0f} examples/s, "
            f"{speed.before_examples_per_s:,.0f} with the static values"
        )
    return table(title, AUTOTUNE, pipeline.autotuned, ALONE)
