"""Shared by checks on the predicted input, before there is a TPU."""

from collections.abc import Iterator

from tpudiag.hardware import HOST_LINK_GB_PER_S
from tpudiag.input_verdict import InputVerdict, of_signals
from tpudiag.model import Evidence
from tpudiag.prediction.step import DISPATCH_MS, PredictedStep
from tpudiag.prediction.times import HBM_WORST, Bound, Range
from tpudiag.signals import Origin, Signals

from ._compiler import PREDICTED
from ._need import input_bytes, percent, share_of

LEAST_OF_PEAK = 0.1
"""The least share of the peak that products reach, padding included."""


def predicted_step(signals: Signals) -> PredictedStep | None:
    """The predicted step of a rehearsal with a compiled program; else None."""
    step = signals.compiler.step if signals.compiler is not None else None
    return step.predicted if step is not None and signals.origin is Origin.REHEARSAL else None


def as_predicted(name: str, ms: Range) -> Evidence:
    """A predicted time, from one end of its range to the other."""
    return Evidence(name, f"{ms.low:.3g} to {ms.high:.3g}", "ms", source=PREDICTED)


def unjoined_ms(signals: Signals, here_ms: float) -> float:
    """The longest time of a JAX step on the target: each of its operations by itself.

    Where its equations are unknown, as long as here on CPU devices.
    """
    work = signals.sharding.work if signals.sharding is not None else None
    if work is None or signals.target is None:
        return here_ms
    chip = signals.target.hardware
    product_s = work.flops / chip.peak_flops_per_device / LEAST_OF_PEAK
    moved_s = work.moved_bytes / (chip.compiler_hbm_gb_per_s_per_device * 1e9 * HBM_WORST)
    return min(here_ms, DISPATCH_MS[1] + 1e3 * (product_s + moved_s))


def transfer_ms(signals: Signals) -> Range | None:
    """The transfer time of a replica's batch from host to device; None for an unknown size."""
    sizes = [input_bytes(tensor) for tensor in signals.step_inputs or ()]
    if not any(sizes) or signals.target is None:
        return None
    # The link is per chip: its devices (two cores of v2 and v3) share it.
    devices = signals.target.hardware.devices_per_chip
    slow, fast = (rate * 1e6 / devices for rate in HOST_LINK_GB_PER_S)
    return Range(sum(sizes) / fast, sum(sizes) / slow * 0.75, sum(sizes) / slow)


def input_verdict(signals: Signals) -> InputVerdict | None:
    """The verdict for a rehearsal with a predicted step and a measured pipeline; else None.

    A step bound by dispatch is too short for a prediction of its needs.
    """
    predicted = predicted_step(signals)
    if predicted is None:
        return None
    return None if predicted.bound_by is Bound.DISPATCH else of_signals(signals)


def ranged(name: str, share: Range, unit: str, limit: float) -> tuple[Evidence, ...]:
    """A predicted share with its range."""
    return (
        share_of(f"{name}, predicted", share.value, unit, limit, PREDICTED),
        Evidence("at least", percent(share.low), unit, source=PREDICTED),
        Evidence("at most", percent(share.high), unit, source=PREDICTED),
    )


def figures(verdict: InputVerdict) -> Iterator[Evidence]:
    """The verdict as evidence."""
    alone = "the pipeline run alone on this machine"
    yield Evidence("one core gives", round(verdict.per_core.value, 1), "examples/s", source=alone)
    for name, value in (
        ("the predicted step needs of one host", verdict.needed),
        ("the host can give, predicted", verdict.capacity),
    ):
        text = f"{value.value:,.0f} ({value.low:,.0f} to {value.high:,.0f})"
        yield Evidence(name, text, "examples/s", source=PREDICTED)
    yield Evidence(
        "cores needed, predicted",
        round(verdict.cores_needed.value, 2),
        "vCPUs",
        verdict.host.vcpus,
        PREDICTED,
    )
