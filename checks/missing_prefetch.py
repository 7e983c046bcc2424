from tpudiag.model import BOTH, Confidence, Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import NO_WORK, Pipeline, Signals

from ._input import refuted, worth
from ._need import need

LIMIT = 1
"""The largest static prefetch buffer that is called small, in elements (global batches)."""


@check("TPU202", Severity.WARNING, frameworks=BOTH)
def missing_prefetch(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The pipeline does not end in prefetch, or its buffer is static and small.

    ## What it sees
    The last transformation of each pipeline that feeds the training step, as it was built. If
    tf.data adds a prefetch itself (its default since 2.9, unless an option switches it off) the
    finding is a note; if the fix was measured to make the pipeline slower there is none.

    ## Why it costs
    Without it the next batch is made only when the step asks for it: host and chip take turns
    instead of working in parallel.

    ## What to do
    ```python
    dataset = dataset.batch(global_batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance#prefetching
    """
    for pipeline in as_written(signals):
        # What Keras adds at the end (weights of classes) is not the job's.
        own = [op for op in pipeline.ops if op.location is not None] or pipeline.ops
        last = next((op for op in reversed(own) if op.kind not in NO_WORK), None)
        if last is None:
            continue
        gain, measured = worth(pipeline, "prefetch")
        by_itself = pipeline.prefetched_by_itself
        if last.kind != "Prefetch" and refuted(pipeline, "prefetch"):
            yield Evidence("last transformation", last.kind)
            yield from measured
        elif last.kind != "Prefetch":
            added = " tf.data adds one when it optimises the pipeline, as it does here."
            yield Finding(
                f"the pipeline ends in {last.kind}, not in prefetch."
                + (added if by_itself else gain),
                "dataset = dataset.prefetch(tf.data.AUTOTUNE)  # the last transformation",
                (Evidence("last transformation", last.kind, limit="Prefetch"), *measured),
                last.location or pipeline.location,
                severity=Severity.INFO if by_itself else Severity.WARNING,
                confidence=Confidence.MEDIUM,
            )
        elif last.buffer_size is not None and 0 <= last.buffer_size <= limit:
            yield Finding(
                f"prefetch holds a static buffer of {last.buffer_size}.{gain}",
                "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
                (Evidence("buffer", last.buffer_size, "batches", limit + 1), *measured),
                last.location or pipeline.location,
                confidence=Confidence.MEDIUM,
            )
        else:
            buffer = "AUTOTUNE" if last.buffer_size in (-1, None) else last.buffer_size
            yield Evidence("last transformation", f"Prefetch({buffer})")


def as_written(signals: Signals) -> tuple[Pipeline, ...]:
    """Those that have the script's settings: tf.data's debug mode leaves them out."""
    own = tuple(p for p in own_pipelines(signals) if p.debugged is None)
    return need(own or None, "a pipeline outside tf.data's debug mode", "leave out its call")


def own_pipelines(signals: Signals) -> tuple[Pipeline, ...]:
    """The pipelines of user code that feed training; skips where there is none."""
    pipelines = need(signals.pipelines, "a tf.data pipeline")
    own = [p for p in pipelines if p.trains and any(op.location for op in p.ops)]
    by_lines: dict[object, Pipeline] = {}  # a function may have made one twice
    what = "a tf.data pipeline of the job's own (Keras made one from arrays)"
    for pipeline in need(own or None, what):
        by_lines.setdefault(tuple((op.kind, op.location) for op in pipeline.ops), pipeline)
    return tuple(by_lines.values())
