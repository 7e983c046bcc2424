"""TPU102."""

from __future__ import annotations

from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Location, Severity, check
from tpudiag.signals import DatasetOp, Pipeline, Signals, TensorSeen

from ._need import need


@check("TPU102", Severity.ERROR)
def dynamic_shape(signals: Signals) -> Iterator[Finding | Evidence]:
    """An unknown dimension reaches the training step.

    ## What it sees
    The shapes of the tensors that one replica's step gets, as traced, and the element_spec of the
    pipeline that feeds it; the batching op without drop_remainder is named. Where the step was
    lowered for the TPU compiler, the operations whose result has a bounded dimension, too.

    ## Why it costs
    XLA compiles for fixed shapes. An unknown dimension fails to compile on a TPU ("Dynamic
    Spatial Convolution is not supported"), or is padded, or compiles again for each size.

    ## What to do
    ```python
    dataset = dataset.batch(global_batch, drop_remainder=True)
    dataset = dataset.padded_batch(global_batch, padded_shapes=[128], drop_remainder=True)  # text
    ```

    ## Source
    tensorflow#45175, tensorflow#122055, keras-hub#443
    """
    inputs = signals.step_inputs
    pipelines = [p for p in signals.pipelines or () if p.trains]
    if inputs is None and not pipelines:
        need(None, "the input of a training step")
    unknown = [tensor for tensor in inputs or () if _is_dynamic(tensor)]
    if not unknown:
        unknown = [t for p in pipelines if p.distributed for t in p.elements if _is_dynamic(t)]
    if unknown:
        location, cause = _cause(pipelines)
        yield Finding(
            f"the step gets {_text(unknown[0])}: {cause}",
            "dataset = dataset.batch(global_batch, drop_remainder=True)"
            if "drop_remainder" in cause
            else "give every example the same shape before batching:\n"
            "dataset = dataset.padded_batch(global_batch, padded_shapes=..., drop_remainder=True)",
            tuple(Evidence(tensor.name, _text(tensor), limit="static") for tensor in unknown[:5]),
            location,
        )
    step = signals.compiler.step if signals.compiler is not None else None
    for operation in step.dynamic if step is not None and not unknown else ():
        yield Finding(
            f"the size of {operation.name} depends on the data ({operation.kind}): XLA keeps it as "
            "a bounded dimension, and computes its bound.",
            "give it a static size: tf.math.top_k, tf.where(mask, x, 0), or pad to a fixed length",
            (Evidence("operation", operation.name, limit="static"),),
            operation.location,
            severity=Severity.WARNING,
        )
    for tensor in (inputs or ())[:4]:
        yield Evidence(tensor.name, _text(tensor))


def _is_dynamic(tensor: TensorSeen) -> bool:
    """Whether the rank or a dimension is unknown."""
    return tensor.shape is None or None in tensor.shape


def _text(tensor: TensorSeen) -> str:
    """E.g. `float32[?, 784]`."""
    if tensor.shape is None:
        return f"{tensor.dtype}[unknown rank]"
    return f"{tensor.dtype}[{', '.join('?' if s is None else str(s) for s in tensor.shape)}]"


def _cause(pipelines: list[Pipeline]) -> tuple[Location | None, str]:
    """The line that leaves a dimension open, and why."""
    for pipeline in pipelines:
        for op in reversed(pipeline.ops):
            if op.batch_size is not None and not op.drop_remainder:
                return op.location, "its batch has no drop_remainder=True"
    opened = next((found.location for p in pipelines if (found := _opening(p)) is not None), None)
    where = opened or next((p.location for p in pipelines), None)
    return where, "an example's own shape is not fixed"


def _opening(pipeline: Pipeline) -> DatasetOp | None:
    """The batch of unequal examples, or else the first op after which a dimension is unknown."""
    unknown = [op for op in pipeline.ops if op.gives_unknown and op.location is not None]
    batches = [op for op in unknown if op.batch_size is not None or op.kind == "GroupByWindow"]
    return next(iter(batches or unknown), None)
