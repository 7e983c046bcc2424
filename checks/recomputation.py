"""TPU303."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import Signals

from ._need import ON_THE_TPU, need, percent
from ._profile import replicas_of

LIMIT = 0.05
"""Share of the devices' busy time spent in operations that the compiler repeats."""
REPEATED = re.compile(r"\.remat\d*(\.|_|$)")


@check("TPU303", Severity.WARNING)
def recomputation(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """The compiler computes tensors again to fit into HBM.

    ## What it sees
    In a profile, the operations that XLA's rematerialisation pass copied (`.remat` in their
    names), and their share of the time in which the devices were busy. What the job itself
    recomputes (tf.recompute_grad) bears no such name.

    ## Why it costs
    Each is work done twice, since its result did not fit: the step is slower than a smaller
    batch would make it.

    ## What to do
    A smaller per-replica batch, bfloat16 activations, or recomputation where you choose it:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    block = tf.recompute_grad(block)
    ```

    ## Source
    openxla/xla hlo_rematerialization.cc; XProf's hlo_stats (Rematerialization)
    """
    profile, _ = replicas_of(signals)
    if not profile.ops:
        need(None, "an operation on a device", ON_THE_TPU)
    repeated = [op for op in profile.ops if REPEATED.search(op.name)]
    spent = sum(op.share for op in repeated)
    evidence = (
        Evidence("recomputed", percent(spent), "% of busy time", percent(limit), profile.source),
        Evidence("recomputed operations", len(repeated), "operations", source=profile.source),
    )
    if spent > limit:
        longest = repeated[0]
        yield Finding(
            f"{spent:.0%} of the devices' time goes into computing tensors again that did not fit "
            f"into HBM, most into {longest.name}.",
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # or a smaller batch',
            evidence,
            longest.location,
        )
    yield from evidence
