"""The predicted step: the sum of its instructions' times, its bounds, and the largest of them."""

import re
from collections.abc import Iterable, Sequence

from tpudiag.hardware import Target
from tpudiag.prediction.times import NONE, SMALLEST_US, Bound, Range, Timed, timed
from tpudiag.prediction.work import Kind, Work, collective_bytes_of, flops_of, hbm_bytes_of
from tpudiag.records import dataclass
from tpudiag.report_figures import PredictedInstruction

NEAR_PEAK = 1.15
"""A product within this factor of its FLOPs' time at the peak has a good shape."""
_BIAS = re.compile(r"Bias(Add)?Grad|BiasAdd\b")
_BATCH_NORM = re.compile(r"[Bb]atch_?[Nn]orm")
_ADVICE = tuple(
    (re.compile(pattern), of_bytes, advice)
    for pattern, of_bytes, advice in (
        (
            r"[Bb]atch_?[Nn]orm|LayerNorm|moments|normalization", True,
            "statistics read every activation again: bfloat16 activations halve it",
        ),
        (
            r"[Ss]oftmax|logsumexp|CrossEntropy", True,
            "bfloat16 logits, or attention that never writes its scores",
        ),
        (
            r"[Rr]andom|[Dd]ropout|bernoulli", False,
            "a lower dropout rate changes nothing: leave out the dropout that is not needed",
        ),
        (
            r"[Aa]dam|[Ll]amb|Momentum|optimizer|Resource\w*Apply", False,
            "once a step whatever the batch: more examples a replica, or a leaner optimizer",
        ),
        (
            r"[Gg]ather|[Ee]mbedding|[Ss]catter", False,
            "rows are read one by one: fewer or wider rows",
        ),
    )
)  # fmt: skip
"""By the operation that made it; whether only where its bytes take longest."""


def normalised(step: Iterable[Timed]) -> bool:
    """Whether a step contains batch normalization."""
    return any(_BATCH_NORM.search(each.work.op_name) for each in step)


def helps(timed: Timed, in_normalised: bool = False) -> str:
    """One short advice; `in_normalised` where its step holds batch normalization."""
    work = timed.work
    if work.kind is Kind.COLLECTIVE:
        return "more examples a replica, so that the same bytes are sent less often"
    # Before the kind: partial tiles cost many times their bytes, whatever is computed.
    if work.strided_bytes:
        return "it writes parts of tiles: stack along a dimension that is not among the last two"
    if work.kind is Kind.PRODUCT:
        return _of_product(timed)
    if work.kind is Kind.MOVE and work.name.startswith("broadcast"):
        return "it fills memory with one value: what loops stack their results in begins so"
    if work.kind is Kind.MOVE:
        return "no arithmetic, only a change of layout: fewer transposes, reshapes and pads"
    # bfloat16 halves bytes; where arithmetic takes longer, it does not help.
    by_bytes = timed.bound is not Bound.VECTOR
    if in_normalised and _BIAS.search(work.op_name) and "conv" in work.op_name.lower():
        return "where batch normalization follows, the bias does nothing: use_bias=False"
    for pattern, of_bytes, advice in _ADVICE:
        if pattern.search(work.op_name) and (by_bytes or not of_bytes):
            return advice
    if not by_bytes:
        return "its arithmetic lasts longer than its bytes: fewer operations for each element"
    if "f32[" in work.shape:
        return "float32 in HBM: bfloat16 halves its bytes"
    return "fewer passes over the activations: it is bound by HBM"


def _of_product(timed: Timed) -> str:
    if timed.bound is Bound.HBM:
        return "more examples a replica, or bfloat16 operands: it moves more than it multiplies"
    # The low end is the FLOPs' time at the peak, without padding.
    if timed.ms.value <= NEAR_PEAK * timed.ms.low:
        return "near the MXU's peak already: only fewer multiplications help"
    if timed.ms.value <= timed.work.trips * SMALLEST_US[1] / 1e3:
        return (
            "small products, each as long as a larger one: more examples a replica, and what needs "
            "no earlier turn of a loop before it, as one product"
        )
    return "dimensions that are multiples of 128 (256 on v6e): the MXU multiplies the padding too"


NARROWEST = 0.90, 1.20
"""The narrowest claimed range around the estimate: published steps vary by this much."""
BEYOND = 0.2
"""Additional share of the estimate at the high end: published steps include evaluations,
checkpoints and input."""
DISPATCH_MS = 0.1, 0.6, 4.0
"""The host's time to dispatch one step to the device: on a TPU VM, at worst over a network."""
KEPT = 10


@dataclass(frozen=True, kw_only=True)
class PredictedStep:
    """A training step predicted for a target; nothing was measured on a TPU."""

    target: str
    batch: int
    """Examples per replica."""
    ms: Range
    device_ms: Range
    """The device's time, without the host."""
    bound_by: Bound
    split_ms: tuple[tuple[Bound, float], ...]
    """The estimate of the device's time by bound, largest first."""
    mfu: Range
    """FLOPs of its matrix products over the documented bfloat16 peak, 0 to 1."""
    hbm_use: Range
    """Bytes over the documented bandwidth, 0 to 1."""
    flops: int
    """Of one replica's step."""
    hbm_bytes: int
    collective_bytes: int
    collective_ms: Range
    top: tuple[PredictedInstruction, ...]

    @property
    def flops_per_example(self) -> float:
        """Of the matrix products."""
        return self.flops / self.batch

    @property
    def hbm_bytes_per_example(self) -> float:
        """Read from and written to HBM."""
        return self.hbm_bytes / self.batch

    @property
    def collective_share(self) -> Range:
        """The share of the device's time in unhidden collectives, 0 to 1."""
        spent, rest = self.collective_ms, self.device_ms
        # Combine opposite ends: slow links with everything else fast give the largest share.
        others = max(rest.value - spent.value, 1e-9)
        slow, fast = max(rest.high - spent.high, others), min(rest.low, others)
        return Range(
            spent.low / (spent.low + slow),
            spent.value / (spent.value + others),
            spent.high / (spent.high + fast),
        )

    def examples_per_second(self, devices: int) -> Range:
        """For so many replicas together."""
        examples = self.batch * devices * 1e3
        return Range(*(examples / each for each in (self.ms.high, self.ms.value, self.ms.low)))


def predict(
    work: Sequence[Work], target: Target, batch: int, replicas: int, steps_per_dispatch: int = 1
) -> PredictedStep:
    """The step of a program compiled for several replicas of a target."""
    times = [timed(each, target.hardware, replicas) for each in work]
    device = _claimed(sum((each.ms for each in times), NONE))
    send = Range(*DISPATCH_MS) * (1 / max(steps_per_dispatch, 1))
    # The longer of both, not the sum: the next step is dispatched while this one runs.
    step = Range(*map(max, device, send))
    total: dict[Bound, float] = {}
    for each in times:
        total[each.bound] = total.get(each.bound, 0.0) + each.ms.value
    split = tuple(sorted(((b, ms) for b, ms in total.items() if ms), key=lambda item: -item[1]))
    bound = Bound.DISPATCH if send.value > device.value else split[0][0] if split else Bound.HBM
    flops, size = flops_of(work), hbm_bytes_of(work)
    peak = target.hardware.peak_flops_per_device / 1e3
    bandwidth = target.hardware.hbm_gb_per_s_per_chip * 1e6 / target.hardware.devices_per_chip
    return PredictedStep(
        target=target.name,
        batch=batch,
        ms=step,
        device_ms=device,
        bound_by=bound,
        split_ms=split,
        mfu=_use(flops / peak, step),
        hbm_use=_use(size / bandwidth, step),
        flops=flops,
        hbm_bytes=size,
        collective_bytes=collective_bytes_of(work),
        collective_ms=sum((t.ms for t in times if t.bound is Bound.ICI), NONE),
        top=_top(times, step.value),
    )


def _claimed(total: Range) -> Range:
    """The claimed range: never narrower than published steps justify."""
    narrow, wide = NARROWEST
    return Range(
        min(total.low, total.value * narrow),
        total.value,
        max(total.high + BEYOND * total.value, total.value * wide),
    )


def _use(least_ms: float, step: Range) -> Range:
    return Range(
        # From the high end: a longer step uses less.
        *(min(1.0, least_ms / each) if each else 0.0 for each in (step.high, step.value, step.low))
    )


def _top(times: Sequence[Timed], step_ms: float) -> tuple[PredictedInstruction, ...]:
    """The largest instructions, with advice for each; without their lines."""
    worst = sorted(times, key=lambda each: -each.ms.value)[:KEPT]
    has_norm = normalised(times)
    return tuple(
        PredictedInstruction(
            name=each.work.name,
            operation=each.work.op_name,
            runs=each.work.trips,
            ms=each.ms.value,
            low_ms=each.ms.low,
            high_ms=each.ms.high,
            share=each.ms.value / step_ms if step_ms else 0.0,
            hbm_bytes=each.work.hbm_bytes * each.work.trips,
            flops=each.work.flops * each.work.trips,
            bound_by=each.bound.value,
            helps=helps(each, has_norm),
        )
        for each in worst
        if each.ms.value > 0
    )
