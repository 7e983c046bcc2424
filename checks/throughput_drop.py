from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals, Throughput, ThroughputDrop, rate, utc

from ._cause import figures, fix, sentence
from ._need import RECORD_IT, need, share_of

LIMIT = 0.06
"""Share of throughput lost; about the least that the detector finds (7 % more time a step)."""


@check("TPU603", Severity.ERROR)
def throughput_drop(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Throughput fell against the job's own baseline.

    ## What it sees
    The steps of a recorded or watched job, compared with the median of its own last hour; in its
    first minutes, with the fastest of them; and with the fastest of its last three runs on the same
    target, or the rate of `watch --expect`. A drop is found if most of the last 12, 40 or 120
    points (steps, or seconds of faster steps) are slower than normal by 25, 12 or 7 % and by more
    than the job's own noise; announced pauses and single slow steps do not count. It fails while
    the drop lasts; a drop that is over is mentioned.

    ## Why it costs
    The same training takes longer, on a TPU that is paid for by the hour: a slower disk or network
    behind the input, a host that others use, a straggler, memory that leaks.

    ## What to do
    ```python
    # profile the job while it is slow, and see where the step goes:
    #   tpudiag attach HOST:PORT
    tf.profiler.experimental.server.start(6009)     # once, at the start of the script
    ```

    ## Source
    tests/benchmarks/bench_detector.py, which compares the detector with others
    """
    seen = need(signals.throughput, "the throughput of a job", RECORD_IT)
    unit = f"{seen.unit}/s"
    for drop in seen.drops:
        if drop.ended_ns is None and drop.share > limit:
            yield _finding(drop, seen, limit)
    over = [drop for drop in seen.drops if drop.ended_ns is not None]
    if over:
        yield Evidence("drops that are over", len(over), "drops", source=seen.source)
    if seen.baseline_per_s is None or seen.per_s is None:
        raise NotMeasured(
            f"too few steps for a baseline ({seen.steps} seen)",
            "record for at least six minutes and 360 steps (of slow steps: 72, and 30 minutes)",
        )
    if seen.doubt is not None:
        raise NotMeasured(seen.doubt, "say what is normal: `tpudiag watch SOURCE --expect RATE`")
    yield Evidence("throughput", seen.per_s, unit, source=seen.source)
    yield Evidence("baseline", seen.baseline_per_s, unit, source=seen.source)


def _finding(drop: ThroughputDrop, seen: Throughput, limit: float) -> Finding:
    unit = f"{seen.unit}/s"
    return Finding(
        f"throughput is {drop.share:.0%} below {drop.against} since about "
        f"{utc(drop.since_ns)}: {rate(drop.per_s)} {unit} instead of {rate(drop.baseline_per_s)}."
        f"{sentence(drop.cause, drop.stands)}",
        fix(drop.cause, "tpudiag attach PID  # profile the job while it is slow", seen.pid),
        (
            share_of("lost", drop.share, "%", limit, seen.source),
            Evidence("baseline", drop.baseline_per_s, unit, source=seen.source),
            *figures(drop.cause),
        ),
    )
