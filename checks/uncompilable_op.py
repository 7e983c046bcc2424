"""TPU103."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, NotMeasured, Severity, check
from tpudiag.signals import Signals

from ._need import need, of_a_job


@check("TPU103", Severity.ERROR)
def uncompilable_op(signals: Signals) -> Iterator[Finding | Evidence]:
    """The step holds operations that do not lower to XLA.

    ## What it sees
    The operations of the traced step on one replica: those that compute with strings, and those
    known to have no TPU kernel. Without lowering the step this proves the bad and never the
    good: a step with none of them is skipped, not passed.

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
    bad = [op for op in ops.found if not op.calls_host]
    for op in bad[:5]:
        yield Finding(
            f"{op.kind} has no TPU kernel.",
            "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)  # do it there",
            (Evidence("operation", op.name), Evidence("operations", ops.total, "operations")),
            op.location,
        )
    if not bad:
        raise NotMeasured(
            f"none of the step's {ops.total} operations is known to lack a TPU kernel, and none "
            "was lowered for one",
            "run one step on the TPU",
        )
