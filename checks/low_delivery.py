from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals, rate
from tpudiag.signals.delivery import DeliveryFall

from ._need import RECORD_IT, need, share_of

LIMIT = 0.2
"""Share of the wall's clock that is lost beyond what is usual for the job."""
MOSTLY = 0.5
"""While nothing is known of the job, less than this is a warning: it may be meant."""
LEAST_S = 90.0
FIXES = {
    "checkpoint": "checkpoint.save(path, options=tf.train.CheckpointOptions("
    "experimental_enable_async_checkpoint=True))  # beside the steps, or less often\n"
    "checkpointer = ocp.AsyncCheckpointer(ocp.StandardCheckpointHandler())  # the same of Orbax",
    "evaluation": "model.fit(..., validation_freq=5, validation_steps=50)  # less, or on a part",
}
ANNOUNCE = 'with steps.pause("evaluation"):  # names what stands there, so that it is told\n    ...'


@check("TPU608", Severity.ERROR)
def low_delivery(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Saves, evaluations or stalls between the steps take too much time.

    ## What it sees
    Examples per wall time over two, five, ten and sixty minutes, pauses included. The check fails
    if at least three pauses, or steps of over ten times the usual, took a fifth of the time more
    than is usual for the job; while that is not known yet, 30 % of it. TPU603 judges only the steps
    themselves.

    ## Why it costs
    A save that blocks for three seconds after every two seconds of steps more than doubles the
    bill, and each step looks as fast as ever.

    ## What to do
    ```python
    options = tf.train.CheckpointOptions(experimental_enable_async_checkpoint=True)
    checkpoint.save(path, options=options)                       # beside the steps
    model.fit(..., validation_freq=5, validation_steps=50)
    ```

    ## Source
    Goodput as https://github.com/AI-Hypercomputer/ml-goodput-measurement defines it;
    tests/benchmarks/bench_running.py
    """
    seen = need(signals.throughput, "the throughput of a job", RECORD_IT)
    fall = seen.delivery
    if fall is not None and fall.lost - (fall.usual or 0.0) >= limit:
        yield _finding(fall, f"{seen.unit}/s", limit, seen.source)
        return
    if seen.watched_s is None or seen.watched_s < LEAST_S:
        raise NotMeasured("less than two minutes of steps were seen", "look again, or record more")
    yield Evidence("delivered", seen.delivered_per_s or 0.0, f"{seen.unit}/s", source=seen.source)


def _finding(fall: DeliveryFall, unit: str, limit: float, source: str) -> Finding:
    word, seconds = fall.kinds[0]
    others = "".join(f", {other} {s / fall.span_s:.0%}" for other, s in fall.kinds[1:3] if s > 1)
    usual = "" if fall.usual is None else f"; {fall.usual:.0%} was usual"
    sure = fall.usual is not None or fall.lost >= MOSTLY
    kinds = (Evidence(f"lost to {k}", round(s, 1), "s", source=source) for k, s in fall.kinds)
    return Finding(
        f"{fall.lost:.0%} of the last {fall.span_s:,.0f} s went by between the steps ({fall.times} "
        f"times{usual}): {word} {seconds / fall.span_s:.0%}{others}. The job delivers "
        f"{rate(fall.per_s)} {unit}; its steps alone would give {rate(fall.stepping_per_s)}.",
        FIXES.get(word, ANNOUNCE),
        (share_of("lost between the steps", fall.lost, "%", limit, source), *kinds),
        severity=Severity.ERROR if sure else Severity.WARNING,
    )
