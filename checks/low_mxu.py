from collections.abc import Sequence

from tpudiag.model import BOTH, Confidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.prediction.step import PredictedStep
from tpudiag.prediction.times import Bound
from tpudiag.report_figures import PredictedInstruction
from tpudiag.signals import Signals

from ._need import HALF, ON_THE_TPU, in_bfloat16, need, share_of
from ._predicted import input_verdict, predicted_step, ranged
from ._profile import HOST_MEMORY, INPUT, replicas_of, share, whole_trace

LIMIT = 0.30
"""MXU utilisation below which a step that nothing else binds is slow for no good reason."""
HBM_BOUND = 0.50
INPUT_BOUND = 0.05
_INSIDE = (Bound.MXU.value, Bound.VECTOR.value)
UNCOSTED = (
    "{:.0%} of the busy time is in custom calls (Pallas kernels) of which the profile holds no "
    "FLOPs and bytes, so the MXU is used {:.0%} at least"
)
COST_THEM = (
    "give the kernels a cost: pl.pallas_call(..., cost_estimate=pl.CostEstimate(...)), then record "
    "again"
)


@check("TPU405", Severity.WARNING, frameworks=BOTH)
def low_mxu(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The MXU is hardly used, though neither input nor HBM limits the step.

    ## What it sees
    In a profile, the FLOPs of all operations relative to the chips' peak in the time they were
    busy, the HBM traffic relative to its peak, and the wait for input. If input or HBM binds the
    step, fix those first: this check reports nothing then. It also reports nothing if kernels of
    unknown cost (Pallas) could account for the missing use. Without a TPU, the predicted share of
    the peak: the check passes if the low end is above the limit, and fails if the high end is below
    it though neither HBM, links nor dispatch take half of the step.

    ## Why it costs
    The matrix unit is most of what a TPU is. Small or odd matrices, float32 and many small
    operations leave it idle while the program runs.

    ## What to do
    In a prediction, what helps the instructions that take longest. In general larger batches,
    feature dimensions that are multiples of 128 (256 on v6e), bfloat16:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    keras.layers.Dense(1024)      # not Dense(1000)
    ```

    ## Source
    XProf: check_host_boundness (MXU idle above 70 %), smart suggestions (HBM below 50 %)
    """
    step = predicted_step(signals)
    if signals.profile is None and step is not None:
        yield from _predicted(signals, step, limit)
    else:
        yield from _profiled(signals, limit)


def _profiled(signals: Signals, limit: float) -> Judgement:
    profile, replicas = replicas_of(signals)
    mxu = need(profile.mxu_share, "the FLOPs of all operations and the chip's peak", ON_THE_TPU)
    hbm = need(profile.hbm_share, "the HBM traffic of all operations", ON_THE_TPU)
    waits = share(replicas, *INPUT)
    evidence = (
        share_of("MXU utilisation", mxu, "% of peak", limit, profile.source),
        share_of("HBM bandwidth", hbm, "% of peak", HBM_BOUND, profile.source),
        share_of("input wait", waits, "% of step time", INPUT_BOUND, profile.source),
    )
    # Before the verdict, whatever it is: lost operations take FLOPs and busy time away in unknown
    # parts.
    whole_trace(profile)
    if mxu >= limit:
        yield from evidence
        return
    # What else may bind the step, each as a share of where it does.
    shares = {
        "HBM bandwidth": hbm / HBM_BOUND,
        "input": waits / INPUT_BOUND,
        "the wait for host memory": share(replicas, HOST_MEMORY) / INPUT_BOUND,
    }
    bound = max(shares, key=lambda name: shares[name])
    if shares[bound] >= 1:
        raise NotMeasured(
            f"the MXU is used {mxu:.0%}, and {bound} binds the step",
            "mend that first (TPU201, TPU210, the roofline of the operations), then record again",
        )
    unknown = profile.uncosted_share
    # Kernels of the job's own bring no count of FLOPs: all of their time may have been products.
    if mxu + unknown >= limit or hbm + unknown >= HBM_BOUND:
        raise NotMeasured(UNCOSTED.format(unknown, mxu), COST_THEM)
    slow = next((op for op in profile.ops if op.bound_by == "compute"), None)
    yield Finding(
        f"the MXU is used {mxu:.0%} of its peak while neither input nor HBM binds the step.",
        _fix(signals),
        evidence,
        slow.location if slow else None,
    )


def _fix(signals: Signals) -> str:
    policy = signals.precision.global_policy if signals.precision is not None else None
    ops = signals.matrix_ops or ()
    of_16_bit = sum(op.flops for op in ops if op.dtype in HALF)
    mostly = 2 * of_16_bit > sum(op.flops for op in ops)
    if policy.endswith("float16") if policy is not None else mostly:
        return "global_batch = 1024  # a larger one, and widths of 128 x n: layers.Dense(1024)"
    return f"{in_bfloat16(signals)}\n# and widths of 128 x n"


def _predicted(signals: Signals, step: PredictedStep, limit: float) -> Judgement:
    low, high = step.mfu.low, step.mfu.high
    evidence = ranged("MXU utilisation", step.mfu, "% of peak", limit)
    if low >= limit:
        yield from evidence
        return
    # A step that mostly waits for something else is reported by that check, and wider layers would
    # not help.
    inside = sum(ms for bound, ms in step.split_ms if bound.value in _INSIDE)
    verdict = input_verdict(signals)
    starves = verdict is not None and verdict.starves
    links = step.collective_share.high >= 0.5
    if starves or links or step.bound_by is Bound.DISPATCH or inside < step.device_ms.value / 2:
        bound = Bound.HOST_INPUT if starves else Bound.ICI if links else step.bound_by
        raise NotMeasured(
            f"the MXU is predicted to be used {step.mfu.value:.0%}, and {bound.value} may bind the "
            "step",
            ON_THE_TPU,
        )
    if high >= limit:
        raise NotMeasured(
            f"the MXU is predicted to be used {low:.0%} to {high:.0%}, on either side of the limit",
            ON_THE_TPU,
        )
    used = f"{low:.0%} to {high:.0%}" if high >= 0.01 else "less than 1%"
    longest = [each for each in step.top if each.bound_by in _INSIDE]
    yield Finding(
        f"predicted: the MXU is used {used} of its peak while neither HBM nor links bind the step.",
        _of_the_longest(longest) or _fix(signals),
        evidence,
        next((each.location for each in longest if each.location is not None), None),
        confidence=Confidence.MEDIUM,
    )


def _of_the_longest(instructions: Sequence[PredictedInstruction]) -> str:
    """What helps the instructions that take longest, and how much of the step they are."""
    shares: dict[str, float] = {}
    for each in instructions:
        shares[each.helps] = shares.get(each.helps, 0.0) + each.share
    most = sorted(shares, key=lambda helps: -shares[helps])[:2]
    return "\n".join(f"{shares[helps]:.0%} of the step or more: {helps}" for helps in most)
