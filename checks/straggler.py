from collections.abc import Sequence
from statistics import median

from tpudiag.model import BOTH, Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import ProfileFacts, ReplicaSteps, Signals, rate
from tpudiag.signals.profile import UNTOLD, WHOLE_TRACE

from ._need import percent
from ._profile import INPUT, outliers, replicas_of, whole_run, whole_trace
from ._tfdata import READING, advice, blocked_by, blocker

LIMIT = 3.5
"""Modified z-score of a replica's own time (XProf's straggler rule)."""
FLOOR = 0.1
"""The least spread assumed, in % of the median step."""
LEAST_HOSTS = 3
WORTH = 0.01
"""Below this share of step time an outlier costs too little to be named."""
# With few replicas that all differ the MAD is large, and hides even one that takes a tenth longer.
UNEVEN = 0.05
"""Above this share of step time nobody calls the replicas even, outlier or not."""
ADVICE = {
    "input": (
        "its input is late",
        "move the preprocessing off the host: the tf.data service shares the work of all hosts\n"
        "dataset = dataset.apply(tf.data.experimental.service.distribute(\n"
        '    processing_mode="distributed_epoch", service="grpc://dispatcher:5000"))',
    ),
    "host to device": (
        "its transfers to the device are slow",
        "look at that host's link and load; send less: dataset.map(cast to uint8)",
    ),
    "idle": (
        "its host is late with the dispatch",
        "look for other load on that host, or a failing machine; recreate the VM if it stays",
    ),
    "host memory": (
        "it waits longer for copies from and to the host's memory",
        "look at that host's memory and load; keep in HBM what every step reads",
    ),
    "compilation": (
        "its host compiles while the others run",
        "keep the shapes of its batches equal to the others': drop_remainder=True",
    ),
    "output": (
        "its transfers to the host are slow",
        "fetch results rarely: if step % 100 == 0: float(loss)",
    ),
    "compute": (
        "its own computation takes longer, so it has more to do (data skew) or a slower chip",
        "pad or bucket examples to equal work, shard by DATA and not by FILE:\n"
        "options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy"
        ".DATA",
    ),
}
UNSEEN = (
    "no part of its step is that much longer",
    "record it again, and compare its replicas in the table and in XProf's trace viewer",
)

UNLIKE = (
    "the hosts' steps are not marked in the same way, so they cannot be compared",
    "record all hosts with marked steps, then `tpudiag read logdir`",
)


@check("TPU503", Severity.WARNING, frameworks=BOTH)
def straggler(signals: Signals, limit: float = LIMIT) -> Judgement:
    """One host or replica is slower than the rest, and all wait for it.

    ## What it sees
    In a profile of at least three hosts, each replica's own time per step: all of the step except
    the collectives, in which the fast wait for the slow. A replica is named if its modified z-score
    is above 3.5 (with a spread of at least 0.1 % of the step), with its cost, and the part of the
    step that is longer than elsewhere. Steps are compared by their numbers, not by the hosts'
    clocks.

    ## Why it costs
    Synchronous training goes at the pace of its slowest replica.

    ## What to do
    If its input is late, share the preprocessing of all hosts:
    ```python
    dataset = dataset.apply(tf.data.experimental.service.distribute(
        processing_mode="distributed_epoch", service="grpc://dispatcher:5000"))
    ```

    ## Source
    XProf's straggler hosts (modified z-score above 3.5, MAD floor 0.1, 3 hosts); Iglewicz, Hoaglin
    """
    profile, replicas = _comparable(signals)
    step_ms = median(r.mean_ms() for r in replicas)
    # Without the wait for others: all replicas of a synchronous step take the same time, and the
    # fast ones spend the rest of it in collectives.
    own = {f"{r.host} {r.replica}": 100 * r.mean_ms("collectives") / step_ms for r in replicas}
    middle = median(own.values())
    slow = outliers(own, limit, FLOOR)
    for replica in replicas:
        name = f"{replica.host} {replica.replica}"
        cost_ms = (own[name] - middle) / 100 * step_ms
        if name in slow and cost_ms > WORTH * step_ms:
            yield _finding(profile, replica, replicas, cost_ms, (step_ms, slow[name], limit))
    if profile.steps_differ:
        raise NotMeasured(*UNLIKE)
    whole_run(profile)
    whole_trace(profile)
    scores = outliers(own, -float("inf"), FLOOR)
    worst = max(scores, key=lambda name: scores[name])
    if own[worst] - middle > 100 * UNEVEN:
        raise NotMeasured(
            f"{worst} takes {(own[worst] - middle) / 100:.0%} of the step longer than the median "
            "replica, but the others differ too much for it to stand out",
            "record more steps (10 at least) of all hosts, then `tpudiag read logdir`",
        )
    yield Evidence(f"highest z-score, {worst}", round(scores[worst], 2), "", limit, profile.source)
    yield Evidence("its own time above the median", round((own[worst] - middle) / 100, 4) * 100,
                   "% of step time", percent(WORTH), profile.source)  # fmt: skip
    yield Evidence("hosts", len({r.host for r in replicas}), "hosts", source=profile.source)


def _comparable(signals: Signals) -> tuple[ProfileFacts, tuple[ReplicaSteps, ...]]:
    profile, every = replicas_of(signals)
    # What a trace lost of a replica may be collectives as well as work of its own.
    replicas = tuple(r for r in every if r.part(UNTOLD) <= (1 - WHOLE_TRACE) * sum(r.step_ms))
    hosts = {replica.host for replica in replicas}
    if len(hosts) < LEAST_HOSTS <= len({replica.host for replica in every}):
        whole_trace(profile)
    if len(hosts) < LEAST_HOSTS:
        count = "there is one host" if len(hosts) == 1 else f"there are {len(hosts)} hosts"
        raise NotMeasured(count, f"profile at least {LEAST_HOSTS} hosts of the run")
    return profile, replicas


def _finding(
    profile: ProfileFacts, replica: ReplicaSteps, replicas: Sequence[ReplicaSteps],
    cost_ms: float, figures: tuple[float, float, float],
) -> Finding:  # fmt: skip
    step_ms, score, limit = figures
    excess: dict[str, float] = {}
    for part in ADVICE:
        names = INPUT if part == "input" else (part,)
        own, *rest = (r.part(*names) / len(r.step_ms) for r in (replica, *replicas))
        excess[part] = own - median(rest)
    part = max(excess, key=lambda name: excess[name])
    # A part that explains less than half of what is lost is no explanation.
    why, fix = ADVICE[part] if excess[part] >= cost_ms / 2 else UNSEEN
    slow = blocker(profile, replica.host) if why == ADVICE["input"][0] else None
    if slow:
        why += f" (mostly {slow.op}: {advice(slow.op).why})"
        fix = READING.fix if advice(slow.op) is READING else fix
    return Finding(
        f"{replica.host} {replica.replica} takes {rate(cost_ms)} ms ({cost_ms / step_ms:.0%} of "
        f"the step) longer than the median replica, and the others wait: {why}.",
        fix,
        (
            Evidence("modified z-score", round(score, 1), "", limit, profile.source),
            Evidence("own time above the median", round(cost_ms, 3), "ms", source=profile.source),
            Evidence(f"{part} above the median", round(excess[part], 3), "ms",
                     source=profile.source),
            *((blocked_by(profile, slow),) if slow else ()),
        ),
        cost_ms_per_step=cost_ms,
    )  # fmt: skip
