"""TPU103."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.compiled import RefusedOp
from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import Signals, StepOp

from ._compiler import why_not_compiled
from ._need import need, of_a_job


@check("TPU103", Severity.ERROR)
def uncompilable_op(signals: Signals) -> Iterator[Finding | Evidence]:
    """The step holds operations that do not lower to XLA.

    ## What it sees
    The operations of the traced step on one replica: those that compute with strings, and those
    known to have no TPU kernel. In a rehearsal the step is lowered to XLA, which names every
    operation that does not; TensorFlow for the CPU lowers for the CPU, so that kernels which only
    the TPU lacks are known from the list alone. A step that was not lowered is skipped, not passed.

    ## Why it costs
    The step does not compile ("Detected unsupported operations when trying to compile graph"),
    after the TPU was booked; with soft placement it runs on the host, at every step.

    ## What to do
    Do it in the input pipeline, where it runs on the host and ahead of time:
    ```python
    dataset = dataset.map(decode_and_hash, num_parallel_calls=tf.data.AUTOTUNE)
    ```

    ## Source
    tensorflow#101181, tensorflow#126007, tensorflow/tpu#176
    """
    of_a_job(signals, "the operations of the traced step")
    ops = need(signals.step_ops, "a traced training step")
    bad: list[StepOp | RefusedOp] = [op for op in ops.found if not op.calls_host]
    lowered = signals.compiler.lowered if signals.compiler is not None else None
    known = {op.kind for op in bad}
    if lowered is not None:
        bad += [op for op in lowered.refused_ops if op.kind not in known]
    for op in bad[:5]:
        yield Finding(
            f"{op.kind} has no TPU kernel."
            if op.kind in known
            else f"{op.kind} does not lower to XLA.",
            "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)  # do it there",
            (Evidence("operation", op.name), Evidence("operations", ops.total, "operations")),
            op.location,
        )
    if bad:
        return
    if lowered is None or lowered.path is None:
        why_not_compiled(signals)
        raise NotMeasured(
            f"none of the step's {ops.total} operations is known to lack a TPU kernel, and none "
            "was lowered for one",
            "run one step on the TPU",
        )
    step = signals.compiler.step if signals.compiler is not None else None
    if step is not None and step.error is not None and "UNIMPLEMENTED" in step.error:
        yield Finding(
            f"the TPU compiler refuses the step: {step.error.splitlines()[0][:300]}",
            "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)  # do it there",
            (Evidence("refusal", step.error[:1000], source=step.source),),
        )
    yield Evidence("operations", ops.total, "operations")
    yield Evidence("lowered", "to StableHLO, by TensorFlow's lowering for the CPU")
    if step is not None and step.fits is not None:
        yield Evidence("taken by the compiler", True, source=step.source)
