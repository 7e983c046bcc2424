from collections.abc import Iterator, Sequence

from tpudiag.model import BOTH, Confidence, Evidence, Finding, Judgement, Location, Severity, check
from tpudiag.signals import TAKES_APART, DatasetOp, Pipeline, Signals

from .missing_cache import read_again
from .missing_prefetch import own_pipelines

LIMIT = 0.5
"""The smallest shuffle buffer that is called enough, as a share of a global batch."""
_GROUPS = ("GroupByWindow", "GroupByReducer", "Window", "DirectedInterleave", "Unbatch")
"""Transformations that may give a batch its labels on purpose."""


@check("TPU214", Severity.WARNING, frameworks=BOTH)
def poor_shuffle(signals: Signals, limit: float = LIMIT) -> Judgement:
    """The shuffle mixes less than it seems to.

    ## What it sees
    The order of shuffle, batch and repeat in each pipeline that feeds the training step; the size
    of the shuffle's buffer compared with batch and dataset; whether the labels of some 30 batches
    in a row vary more than chance lets them; on several hosts its seed if each host
    makes a whole dataset of its own. A shuffle of file names is no shuffle of examples. A batch
    before the shuffle that another batch follows makes windows, each an example. Where one
    pipeline takes of a shuffle what another skips, whether the order is drawn anew in each pass.

    ## Why it costs
    A shuffle after batch changes the order of batches: the same examples stay together in every
    epoch; so they do if no new order is drawn. A buffer smaller than a batch mixes only neighbours,
    so that sorted data stays sorted. With one seed on every host and no shard all hosts train on
    the same examples. If the order is drawn anew where data are split, what is held out in one
    epoch trains in the next, and the validation proves nothing.

    ## What to do
    ```python
    dataset = dataset.shuffle(100_000).repeat().batch(global_batch, drop_remainder=True)
    dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)  # first
    ```

    ## Source
    https://www.tensorflow.org/guide/data#randomly_shuffling_input_data
    """
    for pipeline in own_pipelines(signals):
        shuffles = [
            (number, op)
            for number, op in enumerate(pipeline.ops)
            if op.kind == "Shuffle" and not pipeline.names_files(number)
        ]
        yield from _order(pipeline, shuffles)
        yield from _mixed_parts(pipeline, signals.pipelines or ())
        if read_again(pipeline, signals.keras):
            yield from _same_order(pipeline, [op for _, op in shuffles])
        for _, op in shuffles:
            yield from _size(pipeline, op, limit, known=not signals.stood_in)
        yield from _seeds(pipeline, shuffles, signals.target.hosts if signals.target else 1)
        yield Evidence("shuffles of examples", len(shuffles), source=str(pipeline.location))


def _order(pipeline: Pipeline, shuffles: list[tuple[int, DatasetOp]]) -> Iterator[Finding]:
    if not shuffles:
        return
    number, op = shuffles[0]
    kinds = [each.kind for each in pipeline.ops]
    # Where another batch follows, the first one made an example of its elements: a window, say.
    before, after = pipeline.ops[:number], pipeline.ops[number:]
    apart = any(op.kind in TAKES_APART for op in before)
    batched_after = any((op.batch_size or 1) > 1 for op in after)
    if not (apart or batched_after) and any((op.batch_size or 1) > 1 for op in before):
        yield Finding(
            "shuffle stands after batch: it changes the order of the batches, and the examples of "
            "each stay together.",
            "dataset = dataset.shuffle(buffer_size).batch(global_batch, drop_remainder=True)",
            (Evidence("order", " -> ".join(kinds)),),
            op.location or pipeline.location,
        )
    elif any(each.kind == "Repeat" and each.count != 1 for each in pipeline.ops[:number]):
        yield Finding(
            "repeat stands before shuffle: examples of one epoch mix with those of the next.",
            "dataset = dataset.shuffle(buffer_size).repeat()",
            (Evidence("order", " -> ".join(kinds)),),
            op.location or pipeline.location,
            # It may be meant: no buffer is filled anew between two epochs.
            severity=Severity.INFO,
            confidence=Confidence.LOW,
        )


def _mixed_parts(pipeline: Pipeline, pipelines: Sequence[Pipeline]) -> Iterator[Finding]:
    """Parts for training and validation of a shuffle that draws another order for each pass."""
    own = dict(_parts(pipeline))
    for other in pipelines:
        for place, kind in _parts(other):
            if own.get(place, kind) != kind:
                yield Finding(
                    "one pipeline takes of this shuffle what another skips, and each pass draws a "
                    "new order: examples that are held out in one epoch train in another.",
                    "dataset = dataset.shuffle(buffer_size, reshuffle_each_iteration=False)\n"
                    "train = dataset.skip(held_out).shuffle(buffer_size)  # its own, drawn anew",
                    (Evidence("parts", "take and skip"), Evidence("order", "drawn in each pass")),
                    place,
                )
                return


def _parts(pipeline: Pipeline) -> Iterator[tuple[Location, str]]:
    """The lines of shuffles with a new order in each pass of which a part is taken or skipped."""
    place: Location | None = None
    for op in pipeline.ops:
        if op.kind == "Shuffle" and not op.keeps_order:
            place = op.location
        elif op.kind in ("Take", "Skip", "Cache", "Batch", "Repeat"):
            if place is not None and op.kind in ("Take", "Skip"):
                yield place, op.kind
            place = None


def _same_order(pipeline: Pipeline, shuffles: list[DatasetOp]) -> Iterator[Finding]:
    split = any(op.kind in ("Take", "Skip") for op in pipeline.ops)
    if shuffles and not split and all(op.keeps_order for op in shuffles):
        yield Finding(
            "each epoch has the order of the first one: reshuffle_each_iteration=False.",
            "dataset = dataset.shuffle(buffer_size)  # drawn anew in each epoch",
            (Evidence("reshuffle_each_iteration", "False"),),
            shuffles[-1].location or pipeline.location,
        )


def _size(pipeline: Pipeline, op: DatasetOp, limit: float, *, known: bool) -> Iterator[Finding]:
    batch = pipeline.examples_per_element
    buffer, there = op.buffer_size, op.elements
    # A buffer that holds the whole of the data mixes all of it, however small beside the batch.
    if buffer is None or buffer < 1 or batch < 2 or (there is not None and buffer >= there):
        return
    if buffer >= limit * batch:
        if known:
            yield from _sorted(pipeline, op, buffer)
        return
    evidence = Evidence("shuffle buffer", buffer, "elements", int(limit * batch))
    whole = (Evidence("elements", there, "elements"),) if there is not None else ()
    yield Finding(
        f"the shuffle's buffer of {buffer:,} is smaller than half a batch of {batch:,}: it mixes "
        "neighbours only.",
        f"dataset = dataset.shuffle({max(10 * batch, 10_000):_})  # the whole dataset where it "
        "fits in memory",
        (evidence, *whole),
        op.location or pipeline.location,
    )


def _sorted(pipeline: Pipeline, op: DatasetOp, buffer: int) -> Iterator[Finding]:
    """Labels that come in runs longer than the buffer, where no transformation groups them."""
    seen = pipeline.unmixed
    if seen is None or any(each.python or each.kind in _GROUPS for each in pipeline.ops):
        return
    yield Finding(
        f"label {seen.label} is {seen.least:.0%} of one batch and {seen.most:.0%} of another, of "
        f"{seen.batches} in a row: the data is sorted, and a buffer of {buffer:,} mixes neighbours "
        "only.",
        "dataset = dataset.shuffle(examples)  # all of them, or shuffle once where they are written"
        "\nfiles = files.shuffle(count).interleave(tf.data.TFRecordDataset)  # of a file per class",
        (
            Evidence(f"least share of label {seen.label}", f"{seen.least:.0%}"),
            Evidence(f"its largest share of {seen.batches} batches", f"{seen.most:.0%}"),
        ),
        op.location or pipeline.location,
        confidence=Confidence.MEDIUM,
    )


def _seeds(
    pipeline: Pipeline, shuffles: list[tuple[int, DatasetOp]], hosts: int
) -> Iterator[Finding]:
    """One seed on hosts that each make the whole dataset."""
    sharded = any(op.kind == "Shard" for op in pipeline.ops)
    seeded = next((op for _, op in shuffles if op.seeded), None)
    if hosts > 1 and pipeline.per_replica and not sharded and seeded is not None:
        yield Finding(
            f"each of {hosts} hosts makes the whole dataset and shuffles it by the same seed: all "
            "train on the same examples.",
            "dataset = dataset.shard(context.num_input_pipelines, context.input_pipeline_id)",
            (Evidence("hosts", hosts, "hosts"), Evidence("seed", "the same on each")),
            seeded.location or pipeline.location,
        )
