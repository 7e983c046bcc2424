from tpudiag.model import BOTH, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import MixedPrecision, Signals

from ._need import in_bfloat16, need, of_a_job

_HALF = ("float16", "mixed_float16")
"""Policies for which Keras' fit wraps the optimizer in loss scaling by itself."""


@check("TPU404", Severity.WARNING, frameworks=BOTH)
def needless_loss_scaling(signals: Signals) -> Judgement:
    """Loss scaling or float16, which a TPU does not need.

    ## What it sees
    A LossScaleOptimizer, a float16 dtype policy, and float16 matrix products in the traced step.

    ## Why it costs
    bfloat16 has the range of float32: there is nothing to scale. Loss scaling adds a pass over
    all gradients and skips steps; float16 is no native type of the MXU.

    ## What to do
    ```python
    keras.mixed_precision.set_global_policy("mixed_bfloat16")   # not mixed_float16
    optimizer = keras.optimizers.Adam()                         # no LossScaleOptimizer
    ```

    ## Source
    https://www.tensorflow.org/guide/mixed_precision (TPUs use mixed_bfloat16, no loss scaling)
    """
    of_a_job(signals, "the optimizer")
    precision = signals.precision
    ops = signals.matrix_ops
    if precision is None and ops is None:
        need(None, "an optimizer or a traced step")
    half = [op for op in ops or () if op.dtype == "float16"]
    # The policy alone counts, too: a step that was never traced has no products to look at.
    by_policy = precision is not None and any(map(_HALF.__contains__, precision.policies))
    if precision is not None and precision.loss_scale_optimizer:
        yield _scaled(precision, precision.loss_scale_optimizer, bool(half) or ops is None)
    elif half or by_policy:
        yield Finding(
            "the step computes in float16.",
            in_bfloat16(signals),
            (Evidence("float16 products", len(half), "operations", 0),),
            precision.policy_location
            if precision
            else max(half, key=lambda op: (op.forward, op.flops)).location,
        )
    yield Evidence("float16 products", len(half), "operations")
    if precision is not None:
        yield Evidence("loss scaling", precision.loss_scale_optimizer or "none")


def _scaled(precision: MixedPrecision, optimizer: str, computes: bool) -> Finding:
    """A loss that is scaled: by a policy of float16, or by the job itself."""
    policy = next((name for name in precision.policies if name in _HALF), None)
    if policy is not None:
        return Finding(
            f"the policy {policy} {'computes in' if computes else 'is for'} float16, and the loss "
            "is scaled for it: on a TPU bfloat16 is as fast and needs no scaling.",
            'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
            (Evidence("policy", policy), Evidence("optimizer", optimizer)),
            precision.policy_location or precision.location,
        )
    return Finding(
        f"{optimizer} scales the loss: bfloat16 needs none.",
        "optimizer = keras.optimizers.Adam()  # without LossScaleOptimizer\n"
        'keras.mixed_precision.set_global_policy("mixed_bfloat16")',
        (Evidence("optimizer", optimizer),),
        precision.location,
    )
