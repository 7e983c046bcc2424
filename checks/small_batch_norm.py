from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import BatchNorm, Signals

from ._loop import numerics_of

LIMIT = 16
"""The fewest examples of a replica over which a batch normalisation is called sound."""


@check("TPU508", Severity.WARNING)
def small_batch_norm(signals: Signals, limit: float = LIMIT) -> Judgement:
    """Batch normalisation uses only the few examples of one replica.

    ## What it sees
    Batch normalisations of the traced step that compute mean and variance over the examples of one
    replica during training, and the number of these examples. Synchronised and frozen ones do not.

    ## Why it costs
    Each replica normalises by its own few examples: the statistics are noise and accuracy falls
    (10.6 points of error at 2 images a worker, compared with group normalisation), and it falls
    further with each replica over which the same global batch is spread.

    ## What to do
    ```python
    layers.BatchNormalization(synchronized=True)   # over all replicas
    layers.GroupNormalization(groups=32)           # or: over no examples at all
    ```

    ## Source
    arXiv:1803.08494; https://keras.io/api/layers/normalization_layers/batch_normalization
    """
    layers = numerics_of(signals).batch_norms
    rows = signals.batch.per_replica_batch if signals.batch is not None else None
    replicas = signals.strategy_replicas or 1
    sizes = [(layer, layer.examples or rows) for layer in layers]
    if any(size is None for _, size in sizes):
        raise NotMeasured("the examples of a replica were not seen", "batch(drop_remainder=True)")
    small = [(layer, size) for layer, size in sizes if size is not None and size < limit]
    # On one replica a small batch is the author's choice, and not made by spreading it out.
    if small and replicas > 1:
        yield _finding(small[0][0], small[0][1], len(small), limit)
    yield Evidence("batch normalisations over one replica", len(layers), "layers")
    if layers:
        fewest = min(size for _, size in sizes if size is not None)
        yield Evidence("examples of a replica", fewest, "examples", int(limit))


def _finding(layer: BatchNorm, examples: int, count: int, limit: float) -> Finding:
    return Finding(
        f"{count} batch normalisations, the first {layer.name}, take their statistics over "
        f"{examples} examples of one replica.",
        "layers.BatchNormalization(synchronized=True)  # over all replicas\n"
        "layers.GroupNormalization(groups=32)          # or over no examples at all",
        (
            Evidence("examples of a replica", examples, "examples", int(limit)),
            Evidence("layers", count, "layers"),
        ),
        layer.location,
    )
