from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals, rate, utc

from ._need import RECORD_IT, need, share_of

LIMIT = 0.21
"""Share of throughput lost; what jobs wander by within a day stays below."""
LEAST_HOURS = 1.0


@check("TPU607", Severity.WARNING)
def throughput_drift(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Throughput falls slowly, over hours.

    ## What it sees
    The steps of a recorded or watched job: the last half hour compared with its best half hour
    before. No single minute is slower than the one before, so the job's own baseline follows and
    TPU603 reports nothing.

    ## Why it costs
    Lists that grow with each step, memory that leaks until the host swaps, a data set whose later
    shards cost more, a disk or bucket that fills: the job costs more every hour, and often runs out
    of memory in the end.

    ## What to do
    ```python
    # where the host is now, against an hour ago: memory of the process, and its lines
    #   ps -o rss,etime -p PID
    #   py-spy dump --pid PID
    losses.append(float(loss))     # a list of tensors keeps each step's device memory: keep floats
    ```

    ## Source
    Theil and Sen's slope; limits from the traces of tests/benchmarks/bench_detector.py
    """
    seen = need(signals.throughput, "the throughput of a job", RECORD_IT)
    unit = f"{seen.unit}/s"
    drift = seen.drift
    if drift is not None and drift.share > limit:
        yield Finding(
            f"throughput fell by {drift.share:.0%} since about {utc(drift.since_ns)}, by "
            f"{drift.percent_per_hour:.1f}% an hour: {rate(drift.per_s)} {unit} instead of "
            f"{rate(drift.best_per_s)}.",
            "ps -o rss,etime -p PID  # then py-spy dump --pid PID: what grows with each step?",
            (
                share_of("lost", drift.share, "%", limit, seen.source),
                Evidence("slope", round(drift.percent_per_hour, 2), "%/h", source=seen.source),
                Evidence("best half hour", drift.best_per_s, unit, source=seen.source),
            ),
        )
        return
    if seen.watched_h is None or seen.watched_h < LEAST_HOURS:
        raise NotMeasured("less than an hour of steps was seen", "record for an hour or more")
    # A drop hides a drift: the signal is left out while one lasts, which is no pass.
    if any(drop.ended_ns is None for drop in seen.drops):
        raise NotMeasured("throughput has dropped (TPU603)", "look again when the drop is over")
    yield Evidence("looked at", round(seen.watched_h, 1), "h", source=seen.source)
