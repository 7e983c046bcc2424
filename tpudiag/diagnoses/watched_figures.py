"""A watched job in its report: headline, figures, workers beside each other, their outcomes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from tpudiag.diagnoses import report_parts
from tpudiag.diagnoses.report_parts import count
from tpudiag.model import Evidence, Outcome, Verdict
from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.jobs import Job, rank
from tpudiag.monitoring.metrics import Figures
from tpudiag.monitoring.recording import NS
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.report_figures import Table, Value
from tpudiag.signals import rate
from tpudiag.signals.run_state import STANDING, StateKind

MOST = 120
"""The most characters of an error's text, since the headline is one line."""


def job_headline(job: WatchedJob) -> str:
    """The headline for all jobs and workers: a job is as fast as its slowest."""
    line = headline(job.slowest.figures())
    if len(job.workers) == 1:
        return line
    if len(job.jobs) > 1:
        sick = sum(one.sick for one in job.jobs)
        worst = "the sickest" if sick else "the slowest"
        return f"{len(job.jobs)} jobs, {sick or 'none'} sick; {worst}, {job.slowest.worker}: {line}"
    return f"{len(job.workers)} workers; the slowest, {job.slowest.worker}, is {line}"


def headline(figures: Figures) -> str:
    """The headline of one worker: its rate, compared with the normal one."""
    if figures.per_s is None:
        return f"{figures.run.name}: {figures.state.text[:MOST]}."
    pace = f"{figures.run.name}: {rate(figures.per_s)} {figures.unit}/s"
    now = figures.state
    suffix = "" if now.kind is StateKind.STEPPING else f"; {now.text[:MOST]}"
    if now.kind in STANDING:
        return f"{figures.run.name}: {now.text[:MOST]}."
    if figures.baseline_per_s is None:
        return f"{pace}; its baseline is not known yet{_until(figures)}{suffix}."
    change = figures.per_s / figures.baseline_per_s - 1
    return f"{pace}, {change:+.0%} against its baseline{suffix}."


def _until(figures: Figures) -> str:
    """When the baseline will be known; empty for a run that makes no more steps."""
    if figures.baseline_in_s is None or figures.state.over:
        return ""
    return f" (in about {max(figures.baseline_in_s / 60, 1):.0f} min of steps)"


def measurements(figures: Figures, source: str) -> report_parts.Figures:
    """The figures of the report."""
    recent, run = f"{source}, its last 5 minutes", figures.run
    per_s, paused = f"{figures.unit}/s", f"{source}, its last 10 minutes, pauses included"
    waits = None if figures.input_share is None else 100 * figures.input_share
    taken = report_parts.Figures()
    for name, value, unit, where in (
        (f"{figures.unit}_per_second", figures.per_s, per_s, f"{source}, now"),
        ("delivered_per_second", figures.delivered_per_s, per_s, paused),
        ("baseline_per_second", figures.baseline_per_s, per_s, source),
        ("step_time_ms", figures.step_ms[0], "ms", recent),
        ("step_time_p90_ms", figures.step_ms[1], "ms", recent),
        ("step_time_p99_ms", figures.step_ms[2], "ms", recent),
        ("input_wait_share", waits, "%", recent),
        ("hbm_in_use_bytes", figures.hbm_bytes, "bytes", recent),
        ("announced_pauses_s", figures.pause_s or None, "s", source),
        ("steps", figures.steps, run.unit, source),
        ("recorded_s", (run.beat_ns - run.started_ns) / NS, "s", source),
    ):
        taken.put(name, value, unit, where, 3)
    return taken


def notes(job: WatchedJob) -> Iterator[str]:
    """Restarts, and what was skipped."""
    restarts = sum(watched.restarts for watched in job.workers)
    if restarts:
        yield f"{count(restarts, 'restart')} seen."
    if any(watched.account().restarts_unknown for watched in job.workers):
        yield "No checkpoint was seen before a restart: which steps were repeated is not known."
    damaged = sum(len(watched.damaged) for watched in job.workers)
    if damaged:
        rows = count(damaged, "row of the recording is", "rows of the recordings are")
        yield f"{rows} damaged, and left out."
    for run in (one.workers[0].run for one in job.jobs if len(one.workers) == 1):
        # A worker 0 may be the only one.
        if run.worker and not run.worker.endswith(" 0"):
            yield (
                f"Of the workers of {run.name} only {run.worker} is seen here: whether the others "
                "are faster is not known (name their recordings too, use --selector, or compare "
                "tpudiag_baseline_ratio in Prometheus)."
            )
    if job.not_judged:
        runs = count(job.not_judged, "run of an earlier job was", "runs of earlier jobs were")
        yield f"{runs} not judged."


def workers_table(workers: Sequence[Watched], source: str) -> Table:
    """A row for each worker."""
    rows = tuple(_worker_row(watched) for watched in workers)
    columns = ("worker", "rate", "against its baseline", "last step", "steps")
    return Table("Workers", columns, rows, source)


def jobs_table(jobs: Sequence[Job], source: str) -> Table:
    """A row for each job, ill ones first."""
    rows = tuple(
        (job.name, len(job.workers), *_worker_row(job.slowest)[1:4], job.slowest.state.kind.value)
        for job in sorted(jobs, key=lambda one: rank(one.slowest))
    )
    columns = ("job", "workers", "rate", "against its baseline", "last step", "state")
    return Table("Jobs, by their slowest worker", columns, rows, source)


def _worker_row(watched: Watched) -> tuple[Value, ...]:
    figures = watched.figures()
    pace = "no step yet" if figures.per_s is None else f"{rate(figures.per_s)} {figures.unit}/s"
    change = "not known yet"
    if figures.per_s is not None and figures.baseline_per_s:
        change = f"{figures.per_s / figures.baseline_per_s - 1:+.0%}"
    last = f"{figures.silent_s or 0:,.0f} s ago"
    # For a process that is gone the time since its last step would mislead.
    if figures.state.over or figures.state.kind is StateKind.LOST:
        last = figures.state.kind.value
    return (watched.worker, pace, change, last, figures.steps)


WORST = (Verdict.FAILED, Verdict.BROKEN, Verdict.SKIPPED, Verdict.PASSED)
"""The worst verdict counts for all: passed only where all passed."""


def merged(workers: Sequence[tuple[str, bool, tuple[Outcome, ...]]]) -> tuple[Outcome, ...]:
    """The workers' outcomes (name, whether its run is over, outcomes) as the job's.

    A run that ended before it could be judged does not count against the others.
    """
    if len(workers) == 1:
        return workers[0][2]
    together = zip(*(outcomes for _, _, outcomes in workers), strict=True)
    over = [ended for _, ended, _ in workers]
    names = [name for name, _, _ in workers]
    return tuple(_merged(names, over, outcomes) for outcomes in together)


def _merged(names: Sequence[str], over: Sequence[bool], outcomes: Sequence[Outcome]) -> Outcome:
    judged = [
        (name, outcome)
        for name, ended, outcome in zip(names, over, outcomes, strict=True)
        if not (ended and outcome.verdict is Verdict.SKIPPED)
        # Where all have ended, their outcomes are all there is.
    ] or list(zip(names, outcomes, strict=True))
    verdict = next(v for v in WORST if any(outcome.verdict is v for _, outcome in judged))
    same = [(name, outcome) for name, outcome in judged if outcome.verdict is verdict]
    reasons = [f"{name}: {outcome.reason}" for name, outcome in same if outcome.reason]
    causes = {outcome.reason for _, outcome in same}
    # A reason common to all workers is given once, without their names.
    alike = len(causes) == 1 and len(same) == len(judged)
    return replace(
        same[0][1],
        reason=same[0][1].reason if alike else "; ".join(reasons) or None,
        how_to_measure=same[0][1].how_to_measure if alike else None,
        findings=tuple(
            replace(
                finding,
                message=f"{name}: {finding.message}",
                evidence=tuple(_named(name, evidence) for evidence in finding.evidence),
            )
            for name, outcome in same
            for finding in outcome.findings
        ),
        evidence=tuple(
            _named(name, evidence) for name, outcome in same for evidence in outcome.evidence
        ),
    )


def _named(name: str, evidence: Evidence) -> Evidence:
    return replace(evidence, name=f"{evidence.name}, {name}")
