import re
from collections.abc import Iterator

from tpudiag.model import Evidence, Finding, Judgement, Severity, check
from tpudiag.signals import DatasetOp, JobEnd, Pipeline, Signals

from ._need import need, of_a_job

_AFTERWARDS = re.compile(
    r"'(Distributed(?:Dataset|Iterator)\w*|PerReplica)' object has no attribute '"
    r"(batch|padded_batch|map|prefetch|shuffle|repeat|cache|take|unbatch)'"
)
_GLOBAL = re.compile(r"global", re.IGNORECASE)
_PER_REPLICA = re.compile(
    r"per_?(replica|core|device|worker|gpu|tpu|chip)|(replica|core|device|local)_?(batch|bs)",
    re.IGNORECASE,
)


@check("TPU205", Severity.ERROR)
def wrong_batching(signals: Signals) -> Judgement:
    """The dataset is batched in the wrong place, or in the wrong size.

    ## What it sees
    Datasets handed to the strategy: whether they are batched before, whether the global batch
    divides by the replicas; and the script's own name for the number that it passes to `batch`, or
    the product with the replicas that it is: a global batch where each replica gets the whole of it
    (`distribute_datasets_from_function`), a per-replica batch where it is divided once more
    (`experimental_distribute_dataset`, `fit`).

    ## Why it costs
    A distributed dataset can no longer be batched. A per-replica batch divided once more leaves the
    MXU an eighth of its rows on eight replicas; a global batch for every replica trains on eight
    times the batch for which the loss and the learning rate were made. A batch that does not divide
    gives replicas different shapes, and each shape is compiled.

    ## What to do
    ```python
    global_batch = 128 * strategy.num_replicas_in_sync
    dataset = dataset.batch(global_batch, drop_remainder=True)         # before distributing
    dataset = strategy.experimental_distribute_dataset(dataset)

    def dataset_fn(context):                                           # or by a function:
        return examples().batch(context.get_per_replica_batch_size(global_batch))
    ```

    ## Source
    https://www.tensorflow.org/tutorials/distribute/input
    """
    of_a_job(signals, "how the pipeline was batched")
    afterwards = _batched_afterwards(signals.end)
    if afterwards is not None:
        yield afterwards
        return
    pipelines = need(signals.pipelines, "a dataset handed to the strategy")
    given = [pipe for pipe in pipelines if pipe.distributed and pipe.trains and pipe.replicas]
    for pipe in need(given or None, "a dataset handed to the strategy"):
        # Two sizes make examples of a second rank (windows, say): which of them is the batch is not
        # known. Two of one size are those of zipped datasets.
        batches = [op for op in pipe.ops if op.batch_size]
        if len({op.batch_size for op in batches}) == 1:
            yield from _of_one(pipe, batches[0])
        else:
            yield Evidence("batch transformations", len(batches), source=str(pipe.location))


def _of_one(pipe: Pipeline, op: DatasetOp) -> Judgement:
    size, replicas, where = op.batch_size or 0, pipe.replicas or 1, op.location or pipe.location
    evidence = [Evidence("batch", size, "examples"), Evidence("replicas", replicas, "replicas")]
    if op.batch_named:
        evidence.append(Evidence("called", ", ".join(op.batch_named[:3])))
    if not pipe.per_replica and size % replicas:
        fix = f"batch = {max(size // replicas, 1) * replicas}  # a multiple of {replicas} replicas"
        idle = f": {replicas - size} of them get no example." if size < replicas else "."
        message = f"a global batch of {size} does not divide by {replicas} replicas{idle}"
        # It trains, with replicas of different shapes.
        yield Finding(message, fix, tuple(evidence), where, severity=Severity.WARNING)
    elif replicas > 1:
        for message, fix in _misnamed(pipe, op, size, replicas):
            yield Finding(message, fix, tuple(evidence), where)
    yield from evidence


def _misnamed(pipe: Pipeline, op: DatasetOp, size: int, replicas: int) -> Iterator[tuple[str, str]]:
    """The batch is what the script itself calls by the other name."""
    is_global, is_per_replica = _named(op)
    if pipe.per_replica and is_global and not is_per_replica:
        yield (
            f"each of {replicas} replicas gets the global batch of {size}: the function is to "
            "give the per-replica batch.",
            "dataset = dataset.batch(context.get_per_replica_batch_size(global_batch), "
            "drop_remainder=True)",
        )
    # Or by its own numbers: something that it calls the global batch is that many times the one
    # given.
    whole = op.global_batch_named == size * replicas
    if not pipe.per_replica and not is_global and (is_per_replica or whole):
        yield (
            f"the per-replica batch of {size} is divided by {replicas} replicas once more: each "
            f"trains on {size // replicas} examples a step.",
            "dataset = dataset.batch(global_batch, drop_remainder=True)  # per replica x replicas",
        )


def each_gets_all(signals: Signals, batch: int) -> bool:
    """Whether every replica gets what the script calls its global batch, of that many examples."""
    return any(
        pipe.per_replica and op.batch_size == batch and _named(op) == (True, False)
        for pipe in signals.pipelines or ()
        for op in pipe.ops
    )


def _named(op: DatasetOp) -> tuple[bool, bool]:
    """Whether the script calls a batch size a global one, and one of a replica.

    Only where its names are clear, or made of a product with the replicas: nothing else shows which
    batch was meant.
    """
    names = [name.partition(" = ") for name in op.batch_named]
    return (
        any(product or _GLOBAL.search(name) for name, _, product in names),
        any(_PER_REPLICA.search(name) for name, _, _ in names),
    )


def _batched_afterwards(end: JobEnd | None) -> Finding | None:
    match = _AFTERWARDS.search(end.error or "") if end is not None else None
    if end is None or match is None:
        return None
    return Finding(
        f"{match[2]} is called on a {match[1]}: a dataset is batched before it is distributed.",
        "dataset = dataset.batch(global_batch, drop_remainder=True).prefetch(tf.data.AUTOTUNE)\n"
        "dataset = strategy.experimental_distribute_dataset(dataset)",
        (Evidence("exception", match[0], source="exception"),),
        end.location,
    )
