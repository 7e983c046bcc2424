"""A watched job as a headline and figures: its rate, and the comparison."""

from tpudiag.monitoring.figures import Figures
from tpudiag.monitoring.recording import NS, said_rate
from tpudiag.monitoring.watched_job import WatchedJob
from tpudiag.report_figures import Measurement
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
    rate = f"{figures.run.name}: {said_rate(figures.per_s)} {figures.unit}/s"
    now = figures.state
    suffix = "" if now.kind is StateKind.STEPPING else f"; {now.text[:MOST]}"
    if now.kind in STANDING:
        return f"{figures.run.name}: {now.text[:MOST]}."
    if figures.baseline_per_s is None:
        return f"{rate}; its baseline is not known yet{_until(figures)}{suffix}."
    change = figures.per_s / figures.baseline_per_s - 1
    return f"{rate}, {change:+.0%} against its baseline{suffix}."


def _until(figures: Figures) -> str:
    """When the baseline will be known; empty for a run that makes no more steps."""
    if figures.baseline_in_s is None or figures.state.over:
        return ""
    return f" (in about {max(figures.baseline_in_s / 60, 1):.0f} min of steps)"


def measurements(figures: Figures, source: str) -> dict[str, Measurement]:
    """The figures of the report."""
    recent = f"{source}, its last 5 minutes"
    rows: dict[str, tuple[float | None, str, str]] = {
        f"{figures.unit}_per_second": (figures.per_s, f"{figures.unit}/s", f"{source}, now"),
        "delivered_per_second": (
            figures.delivered_per_s,
            f"{figures.unit}/s",
            f"{source}, its last 10 minutes, pauses included",
        ),
        "baseline_per_second": (figures.baseline_per_s, f"{figures.unit}/s", source),
        "step_time_ms": (figures.step_ms[0], "ms", recent),
        "step_time_p90_ms": (figures.step_ms[1], "ms", recent),
        "step_time_p99_ms": (figures.step_ms[2], "ms", recent),
        "input_wait_share": (
            None if figures.input_share is None else 100 * figures.input_share,
            "%",
            recent,
        ),
        "hbm_in_use_bytes": (figures.hbm_bytes, "bytes", recent),
        "announced_pauses_s": (figures.pause_s or None, "s", source),
        "steps": (figures.steps, figures.run.unit, source),
        "recorded_s": (
            (figures.run.beat_ns - figures.run.started_ns) / NS,
            "s",
            source,
        ),
    }
    return {
        name: Measurement(value if isinstance(value, int) else round(value, 3), unit, where)
        for name, (value, unit, where) in rows.items()
        if value is not None
    }
