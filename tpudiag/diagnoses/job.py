"""A job from its specification to its report: `tpudiag check` without the command line."""

import time
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from tpudiag import catalogue, engine, scratch
from tpudiag.diagnoses import (
    changes_of_source,
    job_report,
    job_skips,
    last_words,
    predicted_step,
    second_try,
    undiagnosed,
    unrun_commands,
)
from tpudiag.diagnoses.job_request import JobRequest
from tpudiag.diagnoses.named_program import REFERENCE
from tpudiag.errors import UnreadableInput
from tpudiag.model import Framework, Report
from tpudiag.phases import OnPhase
from tpudiag.settings import Settings
from tpudiag.signals import JobEnd, Origin, Signals, TensorFlowImport, TpuAttempt
from tpudiag.sources import buckets, environment, precision_switches, script
from tpudiag.sources.compiler.compile_step import StepCompilation
from tpudiag.sources.compiler.topologies import topology
from tpudiag.sources.job.process import facts, following, job_python, protocol, runner

MAXIMUM_REAL_REPLICAS = 16
"""The most CPU replicas that run in a rehearsal; the job sees the target's number all the same."""
STEPS = 20
IMPORTING = "importing TensorFlow"
FINISHING = "reading the profile"
"""From this phase on the job has ended, and the report is made from what was recorded."""
STEP_BUDGET_S = 45.0
"""CPU seconds for all steps of a rehearsal, where the user set no number. Not fewer: what comes
every ten steps, such as a save, is told from its second time on, and only of observed steps."""


def diagnose(request: JobRequest, settings: Settings, on_phase: OnPhase = lambda _: None) -> Report:
    """Run the job under observation, on the TPU where there is one, and judge the recorded signals.

    Findings carry their possible changes, not yet rehearsed.
    """
    request = request.with_notebook()
    report = _judged(request, settings, on_phase)
    return changes_of_source.with_changes(report, request) if request.offers_changes else report


def _judged(request: JobRequest, settings: Settings, on_phase: OnPhase) -> Report:
    started = datetime.now(UTC)
    limits = following.Limits(
        request.timeout_s, tpu_s=request.tpu_timeout_s, ends_at=time.monotonic() + request.timeout_s
    )
    named_tpu, replicas = request.tpu, request.target.replicas
    attempt: TpuAttempt | None = None
    signals, job = Signals(origin=Origin.TPU), following.JobRun()
    source = script.look(request.script_file, dict(request.changed_sources))
    if request.notebook is not None:
        source = request.notebook.relocated(source)
    undiagnosed.refuse_framework(request.name, source.framework)
    if source.is_tensorflow_1:
        # Read but not run: TensorFlow 2 would end it at its first Session.
        named_tpu = None
    if named_tpu is not None:
        signals, job = _on_tpu(request, named_tpu, limits, on_phase)
        attempt = signals.tpu
    reached = attempt is not None and attempt.reached
    # An unreachable TPU is reported (TPU003), and a rehearsal judges the rest all the same.
    if not (reached or job.interrupted or source.is_tensorflow_1):
        signals, job, replicas = _rehearsed(request, limits, on_phase)
    signals = _with_request(replace(signals, tpu=attempt), request, source)
    on_phase(FINISHING)
    signals, profile_note = _with_profile(signals, request.log_dir)
    on_phase("judging")
    outcomes = job_skips.after_rehearsal(
        engine.examine(signals, catalogue.checks(), settings),
        signals.end,
        not_run=bool(job.facts.get("not_run")),
    )
    elsewhere = request.notebook.started() if request.notebook is not None else None
    undiagnosed.refuse_nothing(
        request.name, signals, job.facts, outcomes, elsewhere, source.defines
    )
    judged = job_report.JudgedJob(
        signals=signals,
        outcomes=outcomes,
        run=job,
        started=started,
        asked_tpu=named_tpu,
        replicas=replicas,
        not_run=source.is_tensorflow_1,
        profile_note=profile_note,
    )
    return job_report.report(request, judged)


def _with_request(signals: Signals, request: JobRequest, source: script.ScriptFacts) -> Signals:
    """Add what is known without running: target, environment, source text, arguments."""
    if request.notebook is not None:
        end = unrun_commands.followed(signals.end, request.notebook.source, request.python.path)
        signals = replace(signals, end=end)
    environment = job_python.environment_of(request.python)
    signals = replace(signals, target=request.target, environment=environment)
    signals = predicted_step.dispatched(_with_source(signals, source))
    return replace(signals, precision_switches=precision_switches.look(request.arguments))


def _with_source(signals: Signals, source: script.ScriptFacts) -> Signals:
    """Add facts from the script's source to the recorded ones."""
    seen = signals.tf1
    if seen is not None or source.tf1:
        # A use that ran is reported once; the source adds those not reached.
        ran = seen or ()
        known = {use.api for use in ran}
        signals = replace(signals, tf1=(*ran, *(u for u in source.tf1 if u.api not in known)))
    if signals.checkpoints is not None:
        checkpoints = replace(signals.checkpoints, mentioned=source.saves)
        paths = [use.path for use in checkpoints.uses]
        signals = replace(signals, checkpoints=checkpoints, buckets=buckets.look(paths))
    return signals


def spec_of(
    request: JobRequest, rehearse: bool, tpu: str, real_replicas: int, lower_to: str = ""
) -> protocol.JobSpec:
    """The job for the child process."""
    arguments, target = request.arguments, request.target
    if request.program == REFERENCE:
        arguments = ("--tpu", tpu, *arguments)
    return protocol.JobSpec(
        program=request.file,
        arguments=arguments,
        replicas=target.replicas,
        real_replicas=real_replicas,
        hosts=target.hosts,
        rehearse=rehearse,
        steps=request.steps or STEPS,
        warmup_steps=request.warmup_steps,
        budget_s=0.0 if request.steps or not rehearse else STEP_BUDGET_S,
        log_dir=str(request.log_dir.absolute()),
        isolation=request.isolation if rehearse else "none",
        writable=(request.saves_in,) if request.saves_in else (),
        keep=str(request.keep_writes.absolute()) if request.keep_writes else "",
        offline=request.offline,
        measure_input_s=request.measure_input_s,
        lower_to=lower_to,
        lower_for=topology(target).replicas,
        cells=request.notebook.source.cells if request.notebook else (),
        notebook=request.notebook.source.name if request.notebook else "",
        fake_data=request.fake_data,
        is_module=request.is_module,
        of_jax=request.framework is Framework.JAX,
        rest_s=request.rest_s if rehearse else 0.0,
        devices_per_chip=target.hardware.devices_per_chip,
        hbm_bytes=target.hardware.usable_hbm_bytes,
        seed=request.seed,
        changed_sources=request.changed_sources,
    )


def _rehearsed(
    request: JobRequest, limits: following.Limits, on_phase: OnPhase
) -> tuple[Signals, following.JobRun, int]:
    """Run on CPU replicas; again with fewer where the model needs too much memory."""
    target = request.target
    replicas = min(target.replicas, MAXIMUM_REAL_REPLICAS)

    def again(spec: protocol.JobSpec, why: str, most_s: float) -> following.JobRun:
        on_phase(why)
        return runner.run(spec, request.python, limits.within(most_s), on_phase)

    with scratch.folder("lowered") as folder:
        to = str(folder) if request.compiler.wanted else ""
        spec = spec_of(request, True, "local", replicas, to)
        failed: JobEnd | None = None
        while True:
            # A new one per try, since a restarted job is mapped anew.
            cells = request.notebook.map if request.notebook else None
            with StepCompilation(target, request.compiler, cells) as compilation:
                job = runner.run(spec, request.python, limits, on_phase, compilation.heard)
                smaller = second_try.fitted(spec, job)
                if smaller is None:
                    job = second_try.judged(spec, job, again)
                    second_try.say_what_failed(job, failed)
                    signals = _signals(Origin.REHEARSAL, job)
                    compiler = compilation.of_job(job.facts, job.interrupted, on_phase)
                    break
            failed = second_try.crash_of(job) or failed
            fewer, all_ = smaller.real_replicas, spec.real_replicas
            on_phase(f"starting again with {fewer} of {all_} replicas")
            spec = smaller
    if compiler.interrupted:
        signals = replace(signals, end=JobEnd(how="interrupted"))
    return replace(signals, compiler=compiler), job, spec.real_replicas


def _on_tpu(
    request: JobRequest, named_tpu: str, limits: following.Limits, on_phase: OnPhase
) -> tuple[Signals, following.JobRun]:
    """Run on the TPU; every wait for it has a limit."""
    refusal = environment.refused(named_tpu)
    if refusal is not None:
        attempt = TpuAttempt(
            asked=named_tpu,
            reached=False,
            phase="connect",
            error=refusal,
            waited_s=0.0,
            limit_s=request.tpu_timeout_s,
        )
        return Signals(origin=Origin.TPU, tpu=attempt), following.JobRun()
    spec = spec_of(request, False, named_tpu, request.target.replicas)
    job = runner.run(spec, request.python, limits, on_phase)
    signals = _signals(Origin.TPU, job)
    attempt = signals.tpu or TpuAttempt(asked=named_tpu, reached=False)
    if not attempt.reached and attempt.error is None:
        waited_s = request.tpu_timeout_s if job.timed_out else attempt.waited_s
        error = signals.end.error if signals.end is not None else None
        reason = job.timed_out or error or "the job ended before it asked for a TPU"
        attempt = replace(attempt, error=reason, waited_s=waited_s)
    attempt = replace(attempt, asked=named_tpu, limit_s=request.tpu_timeout_s, ran=True)
    return replace(signals, tpu=attempt), job


def _signals(origin: Origin, job: following.JobRun) -> Signals:
    signals = facts.signals(origin, job.facts)
    # What is said last where the step is lowered is said of our lowering.
    own = job.phase == protocol.LOWERING and bool(job.exit_code)
    log_tail = "" if own else job.log_tail
    signals = replace(signals, end=replace(signals.end or _end(job), log_tail=log_tail))
    if signals.tensorflow is None and job.phase == IMPORTING and not job.interrupted:
        ended = f" (signal {-job.exit_code})" if job.exit_code and job.exit_code < 0 else ""
        said = last_words.most_telling(job.log_tail) or "the process ended without a word"
        failure = job.timed_out or said + ended
        signals = replace(signals, tensorflow=TensorFlowImport(succeeded=False, failure=failure))
    return signals


def _end(job: following.JobRun) -> JobEnd:
    """The end of a job that could not report it itself."""
    if job.interrupted:
        return JobEnd(how="interrupted")
    if job.timed_out:
        return JobEnd(how="timeout", error=job.timed_out)
    if job.phase == protocol.LOWERING:
        known = job.facts.get("came_to")  # the recording is complete: the lowering ended the job
        return msgspec.convert(known, JobEnd, strict=False) if known else JobEnd(how="stopped")
    code = job.exit_code
    if code is not None and code < 0:
        return JobEnd(how="signal", error=f"killed by signal {-code}", exit_code=code)
    return JobEnd(how="exit", exit_code=code)


def _with_profile(signals: Signals, folder: Path) -> tuple[Signals, tuple[str, ...]]:
    """Add the run's profile; one that cannot be read is noted."""
    from tpudiag.sources import profile

    if not folder.is_dir() or not any(folder.rglob("*.xplane.pb")):
        return signals, ()
    try:
        training = frozenset(f.name for f in signals.functions or () if f.trains)
        facts, steps = profile.facts(folder, training=training)
    except UnreadableInput as error:
        return signals, (f"the profile could not be read: {error}",)
    return replace(
        signals,
        # A rehearsal profiles CPUs: its steps are useful, its devices are no evidence for checks.
        profile=facts if signals.origin is Origin.TPU else None,
        # Those of a profile include the wait for input; else the job's own clock.
        steps=steps if steps is not None and steps.step_ms else signals.steps,
    ), ()
