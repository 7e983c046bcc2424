from collections.abc import Iterator

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
from tpudiag.signals import DatasetOp, Pipeline, Signals

from ._need import mib, of_a_job, share_of
from .missing_prefetch import own_pipelines

LIMIT = 0.8
"""Share of the host's memory that the input pipelines may hold."""


@check("TPU213", Severity.WARNING, frameworks=BOTH)
def host_memory(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The input pipeline holds more than the host's memory.

    ## What it sees
    Shuffle buffers, caches in memory and static prefetch buffers of the pipelines that feed the
    training step: elements x bytes of one (by shape, or by elements that were read if it holds
    strings), with TensorFlow's overhead per tensor, compared with the memory of the target's host.
    If the length of the data is not known, the steps_per_epoch of `fit` give it. On several
    hosts a cache holds a host's own share. Within 20 % of real processes.

    ## Why it costs
    The host's kernel kills the job ("Killed", exit code -9) hours after its start, when the buffer
    is full or the first epoch has filled the cache; on a pod one such host ends all.

    ## What to do
    ```python
    dataset = files.shuffle(1_000).interleave(...)      # shuffle names, then a smaller buffer
    dataset = dataset.map(decode).cache("/mnt/disk/x")  # a cache on a disk, or before decoding
    ```

    ## Source
    https://www.tensorflow.org/guide/data_performance#reducing_memory_footprint
    """
    of_a_job(signals, "the sizes of elements")
    pipelines = own_pipelines(signals)
    if signals.target is None:
        raise NotMeasured("the target is not known", "name it: `--for v5e-8`")
    # Of the machine of this very slice: a v5e-1 has 48 GB, a host of eight chips eight times that.
    ram_bytes = signals.target.host.ram_gb * 10**9
    hosts = signals.target.hosts
    held = [
        (op, _held(op, elements, hosts))
        for pipeline in pipelines
        for op, elements in _holders(pipeline, signals)
    ]
    known = [(op, size) for op, size in held if size is not None]
    total = sum(size for _, size in known)
    if total > limit * ram_bytes:
        yield _finding(known, total, ram_bytes, limit)
    elif len(known) < len(held):
        raise NotMeasured(
            "the size or the number of the elements is not known",
            "assert it: `dataset.apply(tf.data.experimental.assert_cardinality(n))`",
        )
    for op, size in known:
        yield Evidence(f"{op.kind} at {op.location}", size, "B", source="elements x bytes of one")
    yield share_of("share of the host's memory", total / ram_bytes, "%", limit)


def _holders(pipeline: Pipeline, signals: Signals) -> Iterator[tuple[DatasetOp, int | None]]:
    """The transformations that hold elements, each with those of one pass.

    Where the data's length is not known, or is that of a stand-in, an epoch is as long as the
    script says (`fit` on data that are endless or of unknown length).
    """
    fits = signals.loop.fits if signals.loop is not None else ()
    steps = max((fit.steps_per_epoch for fit in fits if fit.batches < 0), default=0)
    batched = False
    for op in pipeline.ops:
        batched |= (op.batch_size or 1) > 1
        if op.kind in ("Shuffle", "Cache", "Prefetch"):
            asked = steps * (1 if batched else pipeline.examples_per_element) or None
            yield op, asked if signals.stood_in else op.elements or asked


def _held(op: DatasetOp, elements: int | None, hosts: int) -> int | None:
    if op.in_file or (op.kind == "Prefetch" and (op.buffer_size or -1) < 0):
        return 0  # AUTOTUNE keeps a budget of its own
    if op.host_bytes is None:
        return None
    if op.kind == "Cache":
        # Each host caches its own share of the data; a shuffle's buffer is as large on each of
        # them.
        return None if elements is None else elements * op.host_bytes // hosts
    buffer = op.buffer_size
    if buffer is None or buffer < 0:  # as large as the dataset
        buffer = elements
    # A buffer of ten million over a thousand elements holds a thousand.
    return None if buffer is None else min(buffer, elements or buffer) * op.host_bytes


def _finding(
    known: list[tuple[DatasetOp, int]], total: int, ram_bytes: int, limit: float
) -> Finding:
    op, size = max(known, key=lambda pair: pair[1])
    fixes = {
        "Shuffle": "dataset = dataset.shuffle(smaller)  # shuffle file names, or before decoding",
        "Cache": 'dataset = dataset.cache("/mnt/disk/cache")  # on a disk, or before decoding',
        "Prefetch": "dataset = dataset.prefetch(tf.data.AUTOTUNE)",
    }
    return Finding(
        f"{op.kind.lower()} holds {mib(size)} when it is full; the host has {mib(ram_bytes)} "
        "of memory.",
        fixes[op.kind],
        (
            Evidence("held by the pipeline", total, "B", int(limit * ram_bytes)),
            Evidence("of it by " + op.kind.lower(), size, "B"),
            Evidence("bytes of one element", op.host_bytes or 0, "B"),
        ),
        op.location,
        cost_bytes=total,
        confidence=Confidence.MEDIUM,
    )
