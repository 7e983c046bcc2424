from tpudiag.model import (
    BOTH,
    Confidence,
    Evidence,
    Finding,
    Judgement,
    NotMeasured,
    Severity,
    check,
)
from tpudiag.signals import KerasUse, Pipeline, Signals

from ._input import worth
from ._need import mib
from .missing_prefetch import own_pipelines

LIMIT = 8 * 2**30
"""The largest result, in bytes, that is called small enough for a host's memory."""


@check("TPU204", Severity.WARNING, needs_data=True, frameworks=BOTH)
def missing_cache(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Costly work that is the same in every epoch is not cached, or cached too late.

    ## What it sees
    In each pipeline that feeds the training step: decoding, parsing, resizing and other costly
    functions without randomness, whether the pipeline is read more than once, whether a cache
    follows, how large its content would be, and the steps before an existing cache. It is only a
    note where what a cache gains was not measured.

    ## Why it costs
    Without a cache every epoch decodes everything again. A cache after a repeat keeps each pass
    separately, and after an endless one fills the host's memory. A cache after a shuffle or a
    random augmentation freezes it: every epoch sees the same "random" examples in the same order.

    ## What to do
    ```python
    dataset = (dataset.map(decode, num_parallel_calls=tf.data.AUTOTUNE)
        .cache()                                   # after what is the same, before what is random
        .shuffle(10_000)
        .map(augment, num_parallel_calls=tf.data.AUTOTUNE))
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance#caching
    """
    for pipeline in own_pipelines(signals):
        caches = [number for number, op in enumerate(pipeline.ops) if op.kind == "Cache"]
        if caches:
            yield from _frozen(pipeline, caches[-1])  # tensorflow_datasets may add an earlier one
        elif read_again(pipeline, signals.keras):
            yield from _uncached(pipeline, limit)
        else:
            raise NotMeasured(
                "the pipeline was read once in the observed steps and does not repeat",
                "rehearse more than one epoch: `--steps` beyond the steps of one",
            )


def read_again(pipeline: Pipeline, keras: KerasUse | None) -> bool:
    """Whether the same elements are made more than once."""
    repeats = any(op.repeats for op in pipeline.ops)
    if keras is None or keras.loop != "fit":
        return repeats or pipeline.passes > 1
    # A rehearsal stops within the first epoch: the requested epochs show that others follow. For
    # one epoch Keras 2 begins two passes, and reads one.
    return repeats or keras.epochs > 1 or pipeline.passes > 2


def _frozen(pipeline: Pipeline, at: int) -> Judgement:
    """What stands before a cache and should not: repetition, chance, the choice of a shuffle."""
    where = pipeline.ops[at].location or pipeline.location
    repeated = next((op for op in pipeline.ops[:at] if op.repeats), None)
    if repeated is not None and repeated.endless and pipeline.ops[at].elements is not None:
        repeated = None  # a `take` in between ends it
    # Behind the cache the order is drawn anew in each epoch: the frozen one before it does no harm.
    drawn_anew = any(op.kind == "Shuffle" for op in pipeline.ops[at:])
    random = [
        op
        for number, op in enumerate(pipeline.ops[:at])
        if op.stateful
        or (op.kind == "Shuffle" and not (drawn_anew or pipeline.names_files(number)))
    ]
    if repeated is not None:
        passes, grows = f"a {repeated.count} times", ""
        if repeated.endless:
            passes = "an endless"
            grows = ", is never whole, and grows until the host's memory is full"
        yield Finding(
            f"cache stands after {passes} repeat: it keeps every pass by itself{grows}.",
            "dataset = dataset.map(decode).cache().shuffle(10_000).repeat()",
            (Evidence("before the cache", "Repeat"),),
            where,
        )
    elif random:
        what = "a shuffle" if random[0].kind == "Shuffle" else "a random function"
        yield Finding(
            f"cache stands after {what}: every epoch sees what the first one drew.",
            "dataset = dataset.map(decode).cache().shuffle(10_000).map(augment)",
            (Evidence("random before the cache", random[0].kind),),
            where,
        )
    yield Evidence("cache", f"transformation {at + 1} of {len(pipeline.ops)}")


def _uncached(pipeline: Pipeline, limit: float) -> Judgement:
    number = pipeline.worth_caching
    if number is None:
        yield Evidence("costly work that repeats", "none seen")
        return
    costly = pipeline.ops[number]
    gain, measured = worth(pipeline, "cache")
    if costly.elements is None or costly.element_bytes is None:
        raise NotMeasured(
            f"{costly.location} repeats costly work, and the size of its result is not known",
            "assert it: `dataset.apply(tf.data.experimental.assert_cardinality(n))`",
        )
    size_bytes = costly.elements * costly.element_bytes
    evidence = Evidence("size of its result", size_bytes, "B", int(limit))
    if size_bytes <= limit and (gain or not measured):
        yield Finding(
            f"{costly.kind} does the same costly work in every epoch; its result is "
            f"{mib(size_bytes)} and would fit in memory.{gain}",
            "dataset = dataset.map(decode).cache().shuffle(10_000).repeat()  # before these",
            (evidence, *measured),
            costly.location,
            severity=None if gain else Severity.INFO,
            confidence=Confidence.HIGH if gain else Confidence.MEDIUM,
        )
    yield evidence
