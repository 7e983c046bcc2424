import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import takewhile

from tpudiag.compiled import RefusedOp
from tpudiag.model import Confidence, Evidence, Finding, Judgement, Location, Severity, check
from tpudiag.signals import Batch, DatasetOp, Pipeline, Signals, StepOp, TensorSeen

from ._need import need
from ._shapes import opening, recur

_BOUNDED = (
    "the size of {op.name} depends on the data ({op.kind}): XLA keeps it as a bounded dimension, "
    "and computes its bound."
)
_OPEN = (
    "the result of {op.kind} ({op.name}) has as many elements as the data say: XLA keeps it as a "
    "bounded dimension, or does not compile what needs its size."
)


@check("TPU102", Severity.ERROR)
def dynamic_shape(signals: Signals) -> Judgement:
    """An unknown dimension reaches the training step.

    ## What it sees
    The shapes of the tensors that one replica's step gets, as traced, and the element_spec of the
    pipeline that feeds it; the batching op without drop_remainder is named. If the step was lowered
    for the TPU compiler, also the operations whose result has a bounded dimension.

    ## Why it costs
    XLA compiles for fixed shapes. An unknown dimension fails to compile on a TPU ("Dynamic Spatial
    Convolution is not supported"), or is padded, or compiles again for each size. If only the batch
    is open, TPUStrategy pads it (`experimental_enable_dynamic_batch_size`): this is a warning. It
    is a note if an endless `repeat` comes before `batch`, so that the batch is always full, or if
    all observed steps had the same shapes though the data's own are not fixed.

    ## What to do
    ```python
    dataset = dataset.batch(global_batch, drop_remainder=True)
    dataset = dataset.padded_batch(global_batch, padded_shapes=[128], drop_remainder=True)  # text
    ```

    ## Source
    tensorflow#45175, tensorflow#122055, keras-hub#443; tf.distribute.RunOptions
    """
    inputs = signals.step_inputs
    pipelines = [p for p in signals.pipelines or () if p.trains]
    if inputs is None and not pipelines:
        need(None, "the input of a training step")
    unknown = [tensor for tensor in inputs or () if _is_dynamic(tensor)]
    given = [p for p in pipelines if p.distributed]
    opened = [t for p in given for t in p.elements if _is_dynamic(t)]
    if unknown:
        yield _finding(unknown, pipelines, signals.batch)
    elif opened and not inputs:
        # The open one beside a fixed one may be that of an evaluation.
        every = all(any(map(_is_dynamic, p.elements)) for p in given)
        need(every or None, "which dataset feeds the training step")
        # No step was seen to take the data: it may never train on them as they are.
        found = _finding(opened, pipelines, signals.batch, "the data are")
        severity = Severity.INFO if found.severity is Severity.INFO else Severity.WARNING
        yield replace(found, severity=severity, confidence=Confidence.MEDIUM)
    elif opened and all(_is_open_batch(tensor) for tensor in opened):
        yield _finding(opened, pipelines, signals.batch, "the data are")
    elif opened and not any(recur(f) for f in signals.functions or () if f.trains):
        yield _open_example(opened, signals, pipelines)
    step = signals.compiler.step if signals.compiler is not None else None
    # A dimension that is open at the input is open in all that follows: said once, where it begins.
    if step is not None and not unknown:
        # Reversed, so that of several on one line the first stays: the others follow from it.
        mendable = [op for op in step.dynamic if op.location not in _of_library(signals)]
        yield from _sized_by_data(reversed(mendable), _BOUNDED, Confidence.HIGH)
    lowered = signals.compiler.lowered if signals.compiler is not None else None
    # What the compiler, or the lowering, said with its own words is not said again from the graph.
    told = (step is not None and step.dynamic) or (lowered and lowered.refused_ops)
    if signals.step_ops is not None and not told:
        yield from _sized_by_data(signals.step_ops.sized_by_data, _OPEN, Confidence.MEDIUM)
    yield from (Evidence(tensor.name, _text(tensor)) for tensor in (inputs or ())[:4])


def _of_library(signals: Signals) -> set[Location | None]:
    """Where an optimizer sums the rows of an embedding's gradient: no author can mend that."""
    step, traced = need(signals.compiler, "the compiler").step, signals.step_ops
    if step is None or traced is None:
        return set()
    summed = (op.location for op in step.dynamic if re.search(r"/Unique\w*$", op.name))
    return {*summed} - {op.location for op in traced.sized_by_data}


def _sized_by_data(
    ops: Iterable[RefusedOp | StepOp], message: str, confidence: Confidence
) -> Iterator[Finding]:
    for op in {op.location: op for op in ops}.values():
        yield Finding(
            message.format(op=op),
            "give it a static size: tf.math.top_k, tf.where(mask, x, 0), or pad to a fixed length",
            (Evidence("operation", op.name, limit="static"),),
            op.location,
            severity=Severity.WARNING,
            confidence=confidence,
        )


def _finding(
    unknown: list[TensorSeen],
    pipelines: list[Pipeline],
    batch: Batch | None,
    which: str = "the step gets",
) -> Finding:
    """An unknown dimension of the input: the batch alone, which is padded, or another."""
    only_batch = all(map(_is_open_batch, unknown))
    # The worst one is shown: an open batch is padded, an open example is not.
    shown = next((t for t in unknown if t.shape is None or None in t.shape[1:]), unknown[0])
    batching = next((culprit for p in pipelines if (culprit := _batching(p)) is not None), None)
    evidence = tuple(Evidence(tensor.name, _text(tensor), limit="static") for tensor in unknown[:5])
    if only_batch and batching is not None:
        single = batching.batch_size == 1
        endless = single or any(_is_endless(p) for p in pipelines if _batching(p) is batching)
        why = (
            "No batch of one is smaller, but nothing says so to the compiler"
            if single
            else "Every batch behind an endless repeat is full, but nothing says so to the compiler"
            if endless
            else "The last batch may be smaller: it is padded, or compiled once more"
        )
        return Finding(
            f"{which} {_text(shown)}: its batch has no drop_remainder=True. {why}.",
            "dataset = dataset.batch(global_batch, drop_remainder=True)",
            evidence,
            batching.location,
            severity=Severity.INFO if endless else Severity.WARNING,
        )
    where, got = _opened_at(pipelines), f"{which} {_text(shown)}"
    if only_batch:
        found = _of_open_batch(got, evidence, where, batch)
        batches = (op for p in pipelines for op in reversed(p.ops))
        full = next((op.batch_size for op in batches if op.drop_remainder), None)
        if full is None or found.severity is Severity.WARNING:
            return found
        said = f"{got}: every batch is of {full:,}, but what this line makes does not say so."
        return replace(found, message=said, fix=f"x = tf.ensure_shape(x, [{full}, ...])")
    message, fix, severity = _why_open(got, shown, pipelines)
    sure = Confidence.MEDIUM if severity is Severity.WARNING else Confidence.HIGH
    return Finding(message, fix, evidence, where, severity=severity, confidence=sure)


def _why_open(
    got: str, shown: TensorSeen, pipelines: list[Pipeline]
) -> tuple[str, str, Severity | None]:
    """Why an example has no fixed shape, what mends it, and how bad that is."""
    # Keras leaves open all dimensions of a dataset that it makes of a generator.
    all_open = shown.shape is not None and not any(shown.shape)
    made_by_keras = (op.python and op.location is None for p in pipelines for op in p.ops)
    if all_open and any(made_by_keras):
        return (
            f"{got} from a generator, of whose arrays Keras tells TensorFlow no size: those of one "
            "size are compiled once, each other size once more.",
            "read the files by tf.data, with a fixed size:\n"
            "tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(path), 3), (224, 224))",
            Severity.WARNING,
        )
    if (seen := _seen_shape(shown, pipelines)) is not None:
        fix = f"dataset.map(lambda x, y: (tf.ensure_shape(x, {[*seen]}), y))  # before batch"
        if any(op.pads for p in pipelines for op in p.ops):
            fix = (
                f"dataset.padded_batch(global_batch, padded_shapes=({[*seen]}, ...))\n"
                f"x = x[:, :{seen[0]}].to_tensor(shape={[None, *seen]})  # of a ragged batch"
            )
        return (
            f"{got}: all batches that were looked at had examples of {list(seen)}, and nothing "
            "says so to the compiler: it pads what is open, and some operations (convolutions over "
            "it) fail.",
            f"dataset = {fix}",
            Severity.WARNING,
        )
    grouped = [p for p in pipelines if any(op.kind == "GroupByWindow" for op in p.ops)]
    few = max((len(p.shapes) for p in grouped), default=0)
    got = f"{got}: an example's own shape is not fixed"
    if few > 1:
        return (
            f"{got}: {few} shapes were seen, of buckets, and each is compiled once",
            "dataset.bucket_by_sequence_length(..., pad_to_bucket_boundary=True, "
            "drop_remainder=True)  # few buckets",
            Severity.INFO,
        )
    return (
        got,
        "give every example the same shape before batching:\n"
        "dataset = dataset.padded_batch(global_batch, padded_shapes=..., drop_remainder=True)",
        None,
    )


def _of_open_batch(
    got: str, evidence: tuple[Evidence, ...], where: Location | None, batch: Batch | None
) -> Finding:
    """A batch that no batching op leaves open: uneven shares of it, or arrays in its place."""
    if batch is not None and batch.global_batch % batch.replicas:
        shared, lower = batch.global_batch, batch.global_batch // batch.replicas
        return Finding(
            f"{got}: a global batch of {shared} is no multiple of {batch.replicas} replicas, whose "
            "shares differ: each is padded, or compiled by itself.",
            f"global_batch = {max(lower, 1) * batch.replicas}  # the same for each replica",
            evidence,
            batch.location or where,
            severity=Severity.WARNING,
        )
    return Finding(
        f"{got}: its batch is left open. Where the examples are no multiple "
        "of the batch, the last one is smaller: it is padded, or compiled once more.",
        "dataset = tf.data.Dataset.from_tensor_slices((x, y))  # in place of arrays\n"
        "dataset = dataset.batch(global_batch, drop_remainder=True)",
        evidence,
        where,
        severity=Severity.INFO,
        confidence=Confidence.MEDIUM,
    )


def _seen_shape(tensor: TensorSeen, pipelines: list[Pipeline]) -> tuple[int, ...] | None:
    """The shape of an example that all batches had, where the tensor is one that it fits."""
    if tensor.shape is None:
        return None
    seen = next((p.shapes[0] for p in pipelines if len(p.shapes) == 1), ())
    return next((shape for shape in seen if _fits(shape, tensor.shape[1:])), None)


def _fits(shape: tuple[int, ...], open_shape: tuple[int | None, ...]) -> bool:
    return len(shape) == len(open_shape) and all(
        wanted in (None, size) for size, wanted in zip(shape, open_shape, strict=True)
    )


def _open_example(opened: list[TensorSeen], signals: Signals, pipelines: list[Pipeline]) -> Finding:
    """Data of no fixed shape whose batches were traced each with the shape that it had."""
    shown = next(tensor for tensor in opened if not _is_open_batch(tensor))
    varied = any(
        change.kind == "shape"
        for function in signals.functions or ()
        if function.trains
        for retrace in function.retraces
        for change in retrace.changes
    )
    explanation = (
        "Steps observed got different shapes: each was traced, and is compiled, by itself."
        if varied
        else "Each step observed got the same shapes; a batch of another size is traced and "
        "compiled once more."
    )
    inputs = signals.step_inputs or ()
    return Finding(
        f"the data are {_text(shown)}: an example's own shape is not fixed. {explanation}",
        "dataset = dataset.padded_batch(global_batch, padded_shapes=..., drop_remainder=True)",
        tuple(Evidence(tensor.name, _text(tensor), limit="static") for tensor in opened[:5])
        + tuple(Evidence(f"the step's {tensor.name}", _text(tensor)) for tensor in inputs[:2]),
        _opened_at(pipelines),
        severity=Severity.WARNING if varied else Severity.INFO,
        confidence=Confidence.HIGH if varied else Confidence.MEDIUM,
    )


def _opened_at(pipelines: list[Pipeline]) -> Location | None:
    """The line after which the shape of an example is open; else that of a pipeline."""
    opened = next((op for p in pipelines if (op := opening(p)) is not None), None)
    return opened.location if opened else next((p.location for p in pipelines), None)


def _is_open_batch(tensor: TensorSeen) -> bool:
    shape = tensor.shape or (1,)
    return shape[0] is None and None not in shape[1:]


def _is_dynamic(tensor: TensorSeen) -> bool:
    return tensor.shape is None or None in tensor.shape


def _text(tensor: TensorSeen) -> str:
    if tensor.shape is None:
        return f"{tensor.dtype}[unknown rank]"
    return f"{tensor.dtype}[{', '.join('?' if s is None else str(s) for s in tensor.shape)}]"


def _batching(pipeline: Pipeline) -> DatasetOp | None:
    """The batch that leaves its first dimension open."""
    from_the_end = reversed(pipeline.ops)
    return next((op for op in from_the_end if op.batch_size and not op.drop_remainder), None)


def _is_endless(pipeline: Pipeline) -> bool:
    """Whether it repeats for ever before it is batched."""
    return any(op.endless for op in takewhile(lambda op: op.batch_size is None, pipeline.ops))
