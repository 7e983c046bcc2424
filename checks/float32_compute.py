"""TPU403."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tpudiag.model import Evidence, Finding, Severity, check
from tpudiag.signals import MatrixOp, MixedPrecision, Signals, TensorSeen

from ._need import ON_THE_TPU, need, percent
from ._profile import replicas_of, whole_trace
from .batch_multiple import hidden_dimensions

LIMIT = 0.10
"""Share of matrix work in 16 bit below which the step counts as float32 (XProf's threshold)."""


@check("TPU403", Severity.WARNING)
def float32_compute(signals: Signals, limit: float = LIMIT) -> Iterator[Finding | Evidence]:
    """The step computes in float32 where bfloat16 would do.

    ## What it sees
    The dtype of every matrix product and convolution of the traced step, weighted by FLOPs, and
    the Keras dtype policies, under which last layers may stay in float32; in a profile, the
    operands of the device's matrix operations.

    ## Why it costs
    float32 activations take twice the HBM and twice its bandwidth. The MXU multiplies in
    bfloat16 either way.

    ## What to do
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")   # variables stay float32
    ```
    Measure it: small steps can gain nothing (keras#18448).

    ## Source
    XProf's overview page (16-bit compute below 10 %); Cloud TPU bfloat16 guide
    """
    if signals.profile is not None and signals.profile.share_16_bit is not None:
        yield from _of_profile(signals, limit)
        return
    # Steps that ran eagerly left no graph whose products could be counted.
    eager = signals.dispatch is not None and signals.dispatch.eager_steps > 0
    if signals.matrix_ops is None and signals.precision is not None and eager:
        yield from _by_policy(signals.precision)
    yield from _double(signals.step_inputs or ())
    ops = need(signals.matrix_ops, "a traced training step")
    total = sum(op.flops for op in ops)
    if not total:
        need(None, "a matrix product in the step")
    share = sum(op.flops for op in ops if op.dtype in ("bfloat16", "float16")) / total
    policies = ", ".join(signals.precision.policies) if signals.precision else ""
    evidence = [Evidence("16-bit compute", percent(share), "% of matrix FLOPs", percent(limit))]
    if policies:
        evidence.append(Evidence("dtype policies", policies))
    if share < limit and not _only_the_head(ops, signals.precision):
        wide = [op for op in ops if op.dtype not in ("bfloat16", "float16")]
        # Forward first: a gradient's line is that of the tape, not of the layer.
        largest = max(wide, key=lambda op: (op.forward, op.flops))
        yield Finding(
            f"{share:.0%} of the step's matrix work is in 16 bit.",
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # before building',
            (*evidence, Evidence("largest product", f"{largest.op} {largest.name}")),
            largest.location,
        )
    yield from evidence


def _double(inputs: Sequence[TensorSeen]) -> Iterator[Finding]:
    """What reaches the step in 64 bit floating point, which no TPU has."""
    wide = [tensor for tensor in inputs if tensor.dtype == "float64"]
    if wide:
        yield Finding(
            f"float64 reaches the step ({len(wide)} of its {len(inputs)} inputs): a TPU has no "
            "such unit and emulates it.",
            "dataset = dataset.map(lambda x, *rest: (tf.cast(x, tf.float32), *rest))\n"
            '# or make the arrays float32: x.astype("float32"); class_weight in fit makes weights '
            "of the dtype of its values",
            tuple(Evidence(tensor.name, tensor.dtype, limit="float32") for tensor in wide[:3]),
            severity=Severity.WARNING,
        )


def _only_the_head(ops: Sequence[MatrixOp], precision: MixedPrecision | None) -> bool:
    """Under a 16-bit policy: whether all in 32 bit are last layers, as they should be."""
    if precision is None or not any(name.endswith("float16") for name in precision.policies):
        return False
    chosen = hidden_dimensions(tuple(ops))
    wide = [op for op in ops if op.forward and op.dtype not in ("bfloat16", "float16")]
    return bool(wide) and not any(op.columns in chosen for op in wide)


def _by_policy(precision: MixedPrecision) -> Iterator[Finding]:
    """Where the steps ran eagerly, so that none was traced: all layers compute in float32."""
    if set(precision.policies) == {"float32"}:
        yield Finding(
            "every Keras layer computes in float32; no step was traced that would say more.",
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # before building',
            (Evidence("dtype policies", "float32", limit="mixed_bfloat16"),),
            precision.policy_location,
        )


def _of_profile(signals: Signals, limit: float) -> Iterator[Finding | Evidence]:
    """The same from the operations that the devices ran."""
    profile, _ = replicas_of(signals)
    share = need(profile.share_16_bit, "a matrix operation with its operands' types", ON_THE_TPU)
    evidence = Evidence(
        "16-bit compute", percent(share), "% of matrix FLOPs", percent(limit), profile.source
    )
    if share < limit:
        wide = next((op for op in profile.ops if op.in_16_bit is False), None)
        names = (wide.name,) if wide else ()
        yield Finding(
            f"{share:.0%} of the step's matrix work is in 16 bit.",
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")  # before building',
            (evidence, *(Evidence("longest in 32 bit", n, source=profile.source) for n in names)),
            wide.location if wide else None,
        )
    else:
        whole_trace(profile)
    yield evidence
