"""TPU213."""

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

from ._need import mib, of_a_job, percent
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
    On several hosts a cache holds a host's own share. Within 20 % of real processes.

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
    held = [(op, _held(op, hosts)) for pipeline in pipelines for op in _holders(pipeline)]
    known = [(op, size) for op, size in held if size is not None]
    if held and not known:
        raise NotMeasured(
            "the size or the number of the elements is not known",
            "assert it: `dataset.apply(tf.data.experimental.assert_cardinality(n))`",
        )
    total = sum(size for _, size in known)
    if total > limit * ram_bytes:
        yield _finding(known, total, ram_bytes, limit)
    for op, size in known:
        yield Evidence(f"{op.kind} at {op.location}", size, "B", source="elements x bytes of one")
    yield Evidence("share of the host's memory", percent(total / ram_bytes), "%", percent(limit))


def _holders(pipeline: Pipeline) -> tuple[DatasetOp, ...]:
    """The transformations that hold elements."""
    return tuple(op for op in pipeline.ops if op.kind in ("Shuffle", "Cache", "Prefetch"))


def _held(op: DatasetOp, hosts: int) -> int | None:
    """Bytes that a transformation holds when it is full; None where that is not known."""
    if op.in_file or (op.kind == "Prefetch" and (op.buffer_size or -1) < 0):
        return 0  # AUTOTUNE keeps a budget of its own
    if op.host_bytes is None:
        return None
    if op.kind == "Cache":
        # Each host caches its own share of the data; a shuffle's buffer is as large on each of
        # them.
        return None if op.elements is None else op.elements * op.host_bytes // hosts
    buffer = op.buffer_size
    if buffer is None or buffer < 0:  # as large as the dataset
        buffer = op.elements
    if buffer is None:
        return None
    # A buffer of ten million over a thousand elements holds a thousand.
    return min(buffer, op.elements or buffer) * op.host_bytes


def _finding(
    known: list[tuple[DatasetOp, int]], total: int, ram_bytes: int, limit: float
) -> Finding:
    """What holds most, and what would hold less."""
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
