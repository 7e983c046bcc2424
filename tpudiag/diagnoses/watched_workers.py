"""The workers of a watched job in its report: a comparison, and notes."""

from collections.abc import Iterator, Sequence

from tpudiag.monitoring.follower import Watched
from tpudiag.monitoring.jobs import Job, rank
from tpudiag.monitoring.recording import said_rate
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.report_figures import Table, Value
from tpudiag.signals.run_state import StateKind


def notes(job: WatchedJob) -> Iterator[str]:
    """Restarts, and what was skipped."""
    restarts = sum(watched.restarts for watched in job.workers)
    if restarts:
        yield f"{restarts} {'restart' if restarts == 1 else 'restarts'} seen."
    if any(watched.account().restarts_unknown for watched in job.workers):
        yield "No checkpoint was seen before a restart: which steps were repeated is not known."
    damaged = sum(len(watched.damaged) for watched in job.workers)
    if damaged:
        rows = "row of the recording is" if damaged == 1 else "rows of the recordings are"
        yield f"{damaged} {rows} damaged, and left out."
    for run in (one.workers[0].run for one in job.jobs if len(one.workers) == 1):
        # A worker 0 may be the only one.
        if run.worker and not run.worker.endswith(" 0"):
            yield (
                f"Of the workers of {run.name} only {run.worker} is seen here: whether the others "
                "are faster is not known (name their recordings too, use --selector, or compare "
                "tpudiag_baseline_ratio in Prometheus)."
            )
    if job.not_judged:
        one = job.not_judged == 1
        runs = "run of an earlier job was" if one else "runs of earlier jobs were"
        yield f"{job.not_judged} {runs} not judged."


def workers_table(workers: Sequence[Watched], source: str) -> Table:
    """A row for each worker."""
    rows = tuple(_worker_row(watched) for watched in workers)
    return Table(
        "Workers", ("worker", "rate", "against its baseline", "last step", "steps"), rows, source
    )


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
    rate = (
        "no step yet" if figures.per_s is None else f"{said_rate(figures.per_s)} {figures.unit}/s"
    )
    change = "not known yet"
    if figures.per_s is not None and figures.baseline_per_s:
        change = f"{figures.per_s / figures.baseline_per_s - 1:+.0%}"
    last = f"{figures.silent_s or 0:,.0f} s ago"
    # For a process that is gone the time since its last step would mislead.
    if figures.state.over or figures.state.kind is StateKind.LOST:
        last = figures.state.kind.value
    return (watched.worker, rate, change, last, figures.steps)
