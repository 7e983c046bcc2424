"""TPU405."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import Signals

from ._need import ON_THE_TPU, need, percent
from ._profile import HOST_MEMORY, INPUT, replicas_of, share, whole_trace

LIMIT = 0.30
"""MXU utilisation below which a step that nothing else binds is slow for no good reason."""
HBM_BOUND = 0.50
INPUT_BOUND = 0.05


@check("TPU405", Severity.WARNING)
def low_mxu(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """The MXU is hardly used, though neither input nor HBM holds the step up.

    ## What it sees
    In a profile, the FLOPs of all operations over what the chips could have done in the time
    they were busy, the HBM traffic over its peak, and the wait for input. Where input or HBM
    binds the step, those are to be mended first and this check says nothing.

    ## Why it costs
    The matrix unit is most of what a TPU is. Small or odd matrices, float32 and many small
    operations leave it idle while the program runs.

    ## What to do
    Larger batches, feature dimensions that are multiples of 128 (256 on v6e), bfloat16:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    keras.layers.Dense(1024)      # not Dense(1000)
    ```

    ## Source
    XProf: check_host_boundness (MXU idle above 70 %), smart suggestions (HBM below 50 %)
    """
    profile, replicas = replicas_of(signals)
    mxu = need(profile.mxu_share, "the FLOPs of all operations and the chip's peak", ON_THE_TPU)
    hbm = need(profile.hbm_share, "the HBM traffic of all operations", ON_THE_TPU)
    waits, offload = share(replicas, *INPUT), share(replicas, HOST_MEMORY)
    evidence = (
        Evidence("MXU utilisation", percent(mxu), "% of peak", percent(limit), profile.source),
        Evidence("HBM bandwidth", percent(hbm), "% of peak", percent(HBM_BOUND), profile.source),
        Evidence("input wait", percent(waits), "% of step time", percent(INPUT_BOUND),
                 profile.source),
    )  # fmt: skip
    whole_trace(profile)
    if mxu >= limit:
        yield from evidence
        return
    if hbm >= HBM_BOUND or waits >= INPUT_BOUND or offload >= INPUT_BOUND:
        shares = {"HBM bandwidth": hbm / HBM_BOUND, "input": waits / INPUT_BOUND,
                  "the wait for host memory": offload / INPUT_BOUND}  # fmt: skip
        bound = max(shares, key=lambda name: shares[name])
        raise NotMeasured(
            f"the MXU is used {mxu:.0%}, and {bound} binds the step",
            "mend that first (TPU201, TPU210, the roofline of the operations), then record again",
        )
    slow = next((op for op in profile.ops if op.bound_by == "compute"), None)
    yield Finding(
        f"the MXU is used {mxu:.0%} of its peak while neither input nor HBM binds the step.",
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # and widths of 128 x n',
        evidence,
        slow.location if slow else None,
    )
