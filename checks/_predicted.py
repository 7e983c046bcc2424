"""What checks say of the input as predicted: before there is a TPU."""

from collections.abc import Iterator

from tpudiag.hardware import HOST_LINK_GB_PER_S
from tpudiag.input_verdict import InputVerdict, of_signals
from tpudiag.model import Evidence
from tpudiag.prediction.step import DISPATCH_MS, PredictedStep
from tpudiag.prediction.times import HBM_WORST, Bound, Range
from tpudiag.signals import Origin, Signals

from ._compiler import PREDICTED
from ._need import input_bytes, percent

LEAST_OF_PEAK = 0.1
"""What products reach of the peak at least, padding and all."""


def predicted_step(signals: Signals) -> PredictedStep | None:
    """Of a rehearsal whose program the TPU compiler made; None else."""
    step = signals.compiler.step if signals.compiler is not None else None
    return step.predicted if step is not None and signals.origin is Origin.REHEARSAL else None


def unjoined_ms(signals: Signals, here_ms: float) -> float:
    """What a step of JAX takes on the target at most: each of its operations by itself.

    Where its equations were not read, as long as here, on CPU devices.
    """
    work = signals.sharding.work if signals.sharding is not None else None
    if work is None or signals.target is None:
        return here_ms
    chip = signals.target.hardware
    product_s = work.flops / chip.peak_flops_per_device / LEAST_OF_PEAK
    moved_s = work.moved_bytes / (chip.compiler_hbm_gb_per_s_per_device * 1e9 * HBM_WORST)
    return min(here_ms, DISPATCH_MS[1] + 1e3 * (product_s + moved_s))


def transfer_ms(signals: Signals) -> Range | None:
    """A replica's batch on its way from host to device; None where its size is not known."""
    sizes = [input_bytes(tensor) for tensor in signals.step_inputs or ()]
    if not any(sizes) or signals.target is None:
        return None
    # The link is the chip's: the devices on it (two cores of v2 and v3) share it.
    devices = signals.target.hardware.devices_per_chip
    slow, fast = (rate * 1e6 / devices for rate in HOST_LINK_GB_PER_S)
    return Range(sum(sizes) / fast, sum(sizes) / slow * 0.75, sum(sizes) / slow)


def input_verdict(signals: Signals) -> InputVerdict | None:
    """Of a rehearsal whose step was predicted and whose pipeline was run alone; else None.

    A step that its dispatch rules is too short for a prediction of what it needs.
    """
    predicted = predicted_step(signals)
    if predicted is None:
        return None
    return None if predicted.bound_by is Bound.DISPATCH else of_signals(signals)


def ranged(name: str, share: Range, unit: str, limit: float) -> tuple[Evidence, ...]:
    """A predicted share with its range."""
    return (
        Evidence(f"{name}, predicted", percent(share.value), unit, percent(limit), PREDICTED),
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
        verdict.vcpus,
        PREDICTED,
    )
