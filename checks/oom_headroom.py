"""TPU301."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import Signals, TensorSeen

from ._need import ON_THE_TPU, mib, need, of_a_job, percent
from ._profile import replicas_of

LIMIT = 0.10
"""Headroom below which it is a warning, as a share of what the compiler may use."""
ERROR_BAR = 0.40
"""How far the analytic estimate may be off, as a share of it; see tests/benchmarks."""
_BYTES = {"float64": 8, "int64": 8, "uint64": 8, "float16": 2, "bfloat16": 2, "int16": 2,
          "int8": 1, "uint8": 1, "bool": 1}  # fmt: skip


@check("TPU301", Severity.ERROR)
def oom_headroom(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """Peak HBM leaves too little headroom on the target.

    ## What it sees
    An estimate for one replica from the traced step, by shape: variables, optimizer slots,
    gradients, two batches of input, and the activations that the backward pass reads. It knows
    neither the compiler's fusion and recomputation, which lower the need, nor tile padding,
    which raises it: it may be off by 40 % either way, and says so.

    ## Why it costs
    Past the limit the compiler first recomputes (slower steps), then refuses (RESOURCE_EXHAUSTED).

    ## What to do
    A smaller per-replica batch, bfloat16 activations, or recomputation that you choose:
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")
    loss = tf.recompute_grad(block)(x)
    ```

    ## Source
    Compiler-usable HBM by generation: the TPU compiler's own out-of-memory messages.
    """
    if signals.profile is not None and signals.profile.memory:
        yield from _measured(signals, limit)
        return
    of_a_job(signals, "the sizes of variables and activations")
    target = need(signals.target, "the target", "name it: `--for v5e-8`")
    variables = need(signals.variables, "the job's variables")
    activations = need(signals.activations, "a traced training step")
    usable = target.hardware.usable_hbm_bytes
    parts = {
        "variables": sum(v.bytes for v in variables if not v.optimizer),
        "optimizer slots": sum(v.bytes for v in variables if v.optimizer),
        "gradients": sum(v.bytes for v in variables if v.trainable),
        "input": 2 * sum(_bytes(tensor) for tensor in signals.step_inputs or ()),
        "activations": activations.activation_bytes,
    }
    need_bytes = sum(parts.values())
    headroom = 1 - need_bytes / usable
    evidence = (
        Evidence("estimated need", need_bytes, "B", usable, "estimate from the traced step"),
        Evidence("estimate may be off by", percent(ERROR_BAR), "%", source="tests/benchmarks"),
        *(Evidence(name, size, "B", source="estimate") for name, size in parts.items()),
        Evidence("headroom", percent(headroom), "%", percent(limit), "estimate"),
    )
    if activations.unknown_tensors:
        raise NotMeasured(
            f"{activations.unknown_tensors} activations have no static size (see TPU102)",
            "make the shapes static, then rehearse again",
        )
    if headroom < limit:
        largest = ", ".join(f"{name} {mib(size)}" for name, size in activations.largest[:3])
        yield Finding(
            f"about {mib(need_bytes)} of HBM needed for one replica, {mib(usable)} usable on "
            f"{target.generation} (estimate, {ERROR_BAR:.0%} either way).",
            "halve the per-replica batch, or keep activations in bfloat16:\n"
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
            (*evidence, Evidence("largest activations", largest, source="traced step")),
            signals.batch.location if signals.batch else None,
            Severity.ERROR if headroom <= 0 else Severity.WARNING,
            cost_bytes=need_bytes,
        )
    elif need_bytes * (1 + ERROR_BAR) > usable * (1 - limit):
        raise NotMeasured(
            f"the estimate of {mib(need_bytes)} is nearer to the {mib(usable)} usable than its "
            f"error of {ERROR_BAR:.0%}",
            "run one step on the TPU and read its memory profile: `tpudiag read logdir`",
        )
    yield from evidence


def _measured(signals: Signals, limit: float) -> Iterator[Finding | Evidence]:
    """The same from the peak that a profile's allocation events show."""
    profile = need(signals.profile, "a device profile", ON_THE_TPU)
    known = [memory for memory in profile.memory or () if memory.capacity_bytes]
    if not known:
        need(None, "an allocator's capacity", ON_THE_TPU)
    fullest = max(known, key=lambda memory: memory.peak_bytes / (memory.capacity_bytes or 1))
    capacity = fullest.capacity_bytes or 0
    headroom = 1 - fullest.peak_bytes / capacity
    source = f"{profile.source}, {fullest.host} {fullest.allocator}"
    held = ", ".join(f"{name} {mib(size)}" for name, size in fullest.held_by[:3])
    evidence = (
        Evidence("peak HBM", fullest.peak_bytes, "bytes", capacity, source),
        Evidence("headroom", percent(headroom), "%", percent(limit), source),
        Evidence("held by", held, source=source),
    )
    if headroom < limit:
        yield Finding(
            f"{mib(fullest.peak_bytes)} of {mib(capacity)} of HBM are taken at the peak on "
            f"{fullest.host} {fullest.allocator}.",
            "halve the per-replica batch, or keep activations in bfloat16:\n"
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
            evidence,
            severity=Severity.ERROR if headroom <= 0 else Severity.WARNING,
            cost_bytes=fullest.peak_bytes,
        )
    replicas_of(signals)  # that no step was seen at a low peak proves nothing
    yield from evidence


def _bytes(tensor: TensorSeen) -> int:
    """Size of an input tensor; unknown dimensions count as 1."""
    return prod(size or 1 for size in tensor.shape or ()) * _BYTES.get(tensor.dtype, 4)
