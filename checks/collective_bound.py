"""TPU504."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import Signals

from ._need import percent
from ._profile import ms_per_step, replicas_of, share

LIMIT = 0.06
"""Share of step time in collectives worth a word (XProf's all-reduce threshold)."""
WARNING_LIMIT, ERROR_LIMIT = 0.15, 0.30


@check("TPU504", Severity.WARNING)
def collective_bound(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """Collectives take too much of the step.

    ## What it sees
    In a profile, the time of each step in all-reduce, all-gather, reduce-scatter, all-to-all and
    collective-permute operations that no computation hides, and the longest of them. A slower
    replica makes the others wait in the same operations: look at TPU503 first.

    ## Why it costs
    The MXU stands still meanwhile. 6 % is said, 15 % is a warning, 30 % an error.

    ## What to do
    A larger per-replica batch makes fewer gradient exchanges for each example; 16-bit gradients
    halve them:
    ```python
    tf.distribute.TPUStrategy(resolver)           # one strategy over the whole slice
    dataset = dataset.batch(2 * global_batch, drop_remainder=True)
    ```

    ## Source
    XProf: all-reduce above 6 %, collectives above 15 %, smart suggestion above 30 %
    """
    profile, replicas = replicas_of(signals)
    if signals.target is not None and signals.target.replicas == 1 and not profile.unread:
        raise NotMeasured("one replica exchanges nothing", "profile a slice of several cores")
    spent = share(replicas, "collectives")
    evidence = Evidence(
        "collectives", percent(spent), "% of step time", percent(limit), profile.source
    )
    found = [op for op in profile.ops if op.category.startswith(("all-", "reduce-", "collective"))]
    longest = tuple(
        Evidence(f"{op.name} ({op.category})", round(op.self_ms, 3), "ms", source=profile.source)
        for op in found[:3]
    )
    if spent >= limit:
        yield Finding(
            f"collectives take {spent:.0%} of the step.",
            "dataset = dataset.batch(2 * global_batch, drop_remainder=True)  # fewer exchanges",
            (evidence, *longest),
            found[0].location if found else None,
            Severity.ERROR if spent >= ERROR_LIMIT
            else Severity.WARNING if spent >= WARNING_LIMIT else Severity.INFO,
            cost_ms_per_step=ms_per_step(replicas, "collectives"),
        )  # fmt: skip
    yield evidence
