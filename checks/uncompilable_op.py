import re
from dataclasses import replace

from tpudiag.compiled import RefusedOp
from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import Signals, StepOp

from ._compiler import why_not_compiled
from ._need import need, of_a_job

_BY_SHAPE = re.compile(r"compile-time constant|[Dd]ynamic (tensor|shape|dimension)|unbounded")
_SAMPLES = re.compile("CandidateSampler|AccidentalHits")
_LOWERING = "TensorFlow's lowering to XLA"
_IN_THE_PIPELINE = "dataset = dataset.map(f, num_parallel_calls=tf.data.AUTOTUNE)  # do it there"
_SAMPLED = (
    "draw the samples by what the TPU has:\n"
    "samples = tf.random.uniform([num_sampled], 0, num_classes, tf.int64)\n"
    "likely = num_sampled / num_classes\n"
    "values = samples, tf.fill([batch, 1], likely), tf.fill([num_sampled], likely)\n"
    "tf.nn.sampled_softmax_loss(..., sampled_values=values, remove_accidental_hits=False)"
)
_OUT_OF_THE_STEP = (
    "take the call at this line out of the step: call it after the tf.function, with what the\n"
    "step returns, every 100th step"
)
_UNLOWERED = (
    "none of the step's {} operations is known to lack a TPU kernel, and none was lowered for one"
)
_CARRIERS = ("Pack", "ConcatV2", "Reshape", "ExpandDims", "Squeeze", "StridedSlice", "Fill", "Tile",
             "GatherV2", "GatherNd", "Transpose", "Slice", "Unpack")  # fmt: skip
"""Operations that the TPU knows for numbers, and not for the texts that they carry."""
_STATIC = (
    "give every tensor of the step a static shape: tf.where(mask, x, 0) in the place of\n"
    "tf.boolean_mask(x, mask), slices and ranges of a constant size, tf.math.top_k"
)


@check("TPU103", Severity.ERROR)
def uncompilable_op(signals: Signals) -> Judgement:
    """The step contains operations that do not lower to XLA.

    ## What it sees
    The operations of the traced step on one replica: those that compute with strings, and those
    known to have no TPU kernel. In a rehearsal the step is lowered to XLA, which names every
    operation that does not lower. TensorFlow for the CPU lowers for the CPU, so kernels that only
    the TPU lacks are known only from the list. A step that was not lowered is skipped, not passed,
    and so is one with operations that only TPUs have kernels for (resized images' gradients).

    ## Why it costs
    The step does not compile ("Detected unsupported operations when trying to compile graph"),
    after the TPU was booked. If the job calls `tf.config.set_soft_device_placement(True)` it is a
    warning: such operations then run on the host, at every step.

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
    callbacks = {op.location for op in ops.found if op.calls_host and op.location}
    if lowered is not None:
        bad += [op for op in lowered.refused_ops if op.kind not in known]
    for op in _one_of_each_line(bad)[:5]:
        error = "" if lowered is None or op.kind in known else lowered.error or ""
        found = _finding(op, op.kind in known, error, ops.total)
        if ops.soft_placement:
            message = f"{found.message.rstrip('.')}: with soft placement it runs on the host."
            found = replace(found, message=message, severity=Severity.WARNING)
        # A print brings operations of its own with it, and a summary is made of what the step
        # gives: no pipeline can take them over.
        out = found.location in callbacks or "Summary" in op.kind
        yield replace(found, fix=_OUT_OF_THE_STEP) if out else found
    if bad:
        return
    if lowered is None or lowered.path is None:
        why_not_compiled(signals)
        raise NotMeasured(_UNLOWERED.format(ops.total), "run one step on the TPU")
    step = signals.compiler.step if signals.compiler is not None else None
    if step is not None and step.error is not None and "UNIMPLEMENTED" in step.error:
        yield Finding(
            f"the TPU compiler refuses the step: {step.error.splitlines()[0][:300]}",
            _IN_THE_PIPELINE,
            (Evidence("refusal", step.error[:1000], source=step.source),),
        )
    yield Evidence("operations", ops.total, "operations")
    yield Evidence("lowered", "to StableHLO, by TensorFlow's lowering for the CPU")
    if step is not None and step.fits is not None:
        yield Evidence("taken by the compiler", True, source=step.source)


def _one_of_each_line(bad: list[StepOp | RefusedOp]) -> list[StepOp | RefusedOp]:
    """The operation that says most for each line of the script: a call brings others with it."""
    lines: dict[object, StepOp | RefusedOp] = {}
    for op in bad:
        held = lines.setdefault(op.location or op.name, op)
        if held.kind in _CARRIERS and op.kind not in _CARRIERS:
            lines[op.location or op.name] = op
    return list(lines.values())


def _finding(op: StepOp | RefusedOp, known: bool, error: str, total: int) -> Finding:
    by_shape = _BY_SHAPE.search(error) is not None
    return Finding(
        _what(op, known=known, by_shape=by_shape),
        _SAMPLED if _SAMPLES.search(op.kind) else _STATIC if by_shape else _IN_THE_PIPELINE,
        (
            Evidence("operation", op.name),
            Evidence("operations", total, "operations"),
            *([Evidence("refusal", error[:600], source=_LOWERING)] if error else []),
        ),
        op.location,
    )


def _what(op: StepOp | RefusedOp, *, known: bool, by_shape: bool) -> str:
    if known:
        of_text = " of text" if op.kind in _CARRIERS else ""
        return f"{op.kind}{of_text} has no TPU kernel."
    if by_shape:
        return f"{op.kind} does not lower to XLA: a size that it needs depends on the data."
    return f"{op.kind} does not lower to XLA."
