"""Changes of the input pipeline that preserve its results."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.arguments import chained, factor, new_value, set_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called, needed, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect

# Places among the positional arguments; None where it goes by name alone.
_REMAINDER_AT = {
    "batch": 1,
    "padded_batch": 3,
    "ragged_batch": 1,
    "bucket_by_sequence_length": None,
}
_BATCHES = ("batch", "padded_batch")
_CALLS_AT = {"map": 1, "interleave": 3}
_READS_AT = {"TFRecordDataset": 3, "TextLineDataset": 3, "FixedLengthRecordDataset": 6}
SHARE_OF_RAM = 0.5
"""The largest share of the host's memory for a cache."""


@fix("TPU102", effect=Effect.ORDER, title="drop the batch that is not full", frameworks=BOTH)
def drop_remainder(place: Place, source: Source) -> Iterator[Edit]:
    """`drop_remainder=True` for the batch that the finding names."""
    if "drop_remainder" not in place.finding.message:
        raise NoChange("what size each example is to have, only its author knows")
    calls = source.calls_at(place.line, *_REMAINDER_AT)
    if not calls:
        raise NoChange("the batch is made by a function of a library, which takes no such argument")
    for call in calls:
        yield set_argument(source, call, "drop_remainder", "True", _REMAINDER_AT[called(call)])


@fix("TPU203", effect=Effect.ORDER, title="run it in parallel", frameworks=BOTH)
def parallel_calls(place: Place, source: Source) -> Iterator[Edit]:
    """`num_parallel_calls=AUTOTUNE` for each map and interleave of the line without it."""
    serial = [
        call
        for call in source.calls_at(place.line, *_CALLS_AT)
        if (given := argument(call, "num_parallel_calls", _CALLS_AT[called(call)])) is None
        or source.code(given.value) in ("None", "1")
    ]
    if not serial:
        raise NoChange("no map or interleave without num_parallel_calls stands on the line")
    for call in serial:
        value = names.autotune(source, call)
        yield set_argument(source, call, "num_parallel_calls", value, _CALLS_AT[called(call)])


@fix("TPU207", effect=Effect.ORDER, title="leave the debug mode", figure="debug mode")
def without_debug_mode(place: Place, source: Source) -> Iterator[Edit]:
    """Remove the call of enable_debug_mode."""
    call = source.call_at(place.line, "enable_debug_mode")
    yield source.removed_call(call, "what it gives is used")


@fix("TPU209", effect=Effect.ORDER, title="read several files at once", frameworks=BOTH)
def parallel_reads(place: Place, source: Source) -> Iterator[Edit]:
    """`num_parallel_reads=AUTOTUNE`, or interleave instead of flat_map."""
    for call in source.calls_at(place.line, "flat_map"):
        name = call.func.attr if isinstance(call.func, cst.Attribute) else None
        if name is not None and any(reader in source.code(call) for reader in _READS_AT):
            yield source.replaced(name, "interleave")
            yield set_argument(source, call, "num_parallel_calls", names.autotune(source, call))
            return
    for call in source.calls_at(place.line, *_READS_AT):
        if _reads_one(source, call):
            raise NoChange("each reader gets one file, and the script's own code joins them")
        value = names.autotune(source, call)
        yield set_argument(source, call, "num_parallel_reads", value, _READS_AT[called(call)])
        return
    raise NoChange("no reader of files stands on the line")


def _reads_one(source: Source, call: cst.Call) -> bool:
    given = call.args[0].value if call.args else None
    kinds = (cst.ListComp, cst.GeneratorExp, cst.For)
    return isinstance(given, cst.Name) and any(
        given.value in {n.value for n in source.inside(target, cst.Name)}
        for above in source.above(call)
        if isinstance(above, kinds)
        for target in [above.target if isinstance(above, cst.For) else above.for_in.target]
    )


# Prefetching reaches the next shuffle earlier: iterators of one dataset draw their seeds from one
# generator, and Keras makes a second one to build the model.
@fix("TPU202", effect=Effect.ORDER, title="prefetch at the end", frameworks=BOTH)
def prefetch(place: Place, source: Source) -> Iterator[Edit]:
    """`.prefetch(AUTOTUNE)` after the last transformation, or instead of a small buffer."""
    if place.figure("buffer") is not None:
        call = source.call_at(place.line, "prefetch")
        value = names.autotune(source, call)
        given = argument(call, "buffer_size", 0)
        yield new_value(source, needed(given, "the prefetch on the line has no buffer size"), value)
        return
    calls = source.calls_at(place.line, *pipeline_chain.METHODS, *pipeline_chain.SOURCES)
    ends = {id(end): end for call in calls for end in [pipeline_chain.chain_end(source, call)]}
    end = only([*ends.values()], "no single dataset ends on the line")
    yield pipeline_chain.put_after(source, end, f".prefetch({names.autotune(source, end)})")


@fix("TPU204", effect=Effect.ORDER, title="keep the costly part in memory", frameworks=BOTH)
def cache_costly_work(place: Place, source: Source) -> Iterator[Edit]:
    """`.cache()` after the costly transformation that is identical in every epoch."""
    size = place.figure("size of its result")
    if not isinstance(size, (int, float)):
        raise NoChange("")
    ram = place.host_ram_bytes
    if ram is not None and size > SHARE_OF_RAM * ram:
        raise NoChange(
            f"it takes {size / 2**30:.1f} GiB, and the host of the target has {ram / 2**30:.0f}"
        )
    call = source.call_at(place.line, "map", "interleave", "flat_map", "filter")
    if any(called(each) == "repeat" for each in pipeline_chain.links(source, call)):
        raise NoChange("it stands behind a repeat: a cache there would keep every pass by itself")
    yield pipeline_chain.put_after(source, call, ".cache()")


@fix("TPU204", effect=Effect.NUMBERS, title="cache before what is random", frameworks=BOTH)
def cache_before_random(place: Place, source: Source) -> Iterator[Edit]:
    """Move a late cache before the first shuffle, repeat or random map."""
    if place.figure("before the cache") is None and place.figure("random before the cache") is None:
        raise NoChange("")
    cache = source.call_at(place.line, "cache")
    before = pipeline_chain.links(source, cache)[:-1]
    moving = (c for c in before if called(c) == "repeat" or pipeline_chain.is_random(source, c))
    late = needed(
        next(moving, None), "what is random before the cache is not seen in this function"
    )
    if any(
        other is not late
        and source.lines(other) == source.lines(late)
        and pipeline_chain.statement_of_link(source, other)
        for other in before
    ):
        raise NoChange("several statements stand on the line")
    yield pipeline_chain.taken_out(source, cache)
    yield pipeline_chain.put_before(source, late, pipeline_chain.link_text(source, cache))


@fix("TPU214", effect=Effect.NUMBERS, title="shuffle examples", frameworks=BOTH)
def shuffle_examples(place: Place, source: Source) -> Iterator[Edit]:
    """Move the shuffle before the batch, with its buffer in examples; or enlarge its buffer."""
    shuffle = source.call_at(place.line, "shuffle")
    given = argument(shuffle, "buffer_size", 0)
    given = needed(given, "the shuffle has no buffer size on the line")
    if place.figure("shuffle buffer") is not None:
        size = re.search(r"shuffle\(([\d_]+)\)", place.finding.fix)
        yield new_value(source, given, needed(size, "no larger size is known")[1])
        return
    if "after batch" not in place.finding.message:
        raise NoChange("which order is meant, only its author knows")
    links = pipeline_chain.links(source, shuffle)
    unseen = "the batch before the shuffle is not seen in this function"
    batch = needed(next((c for c in links if called(c) in _BATCHES), None), unseen)
    size_of_batch = needed(argument(batch, "batch_size", 0), unseen)
    text = pipeline_chain.link_text(source, shuffle)
    first = source.span(shuffle.func.attr)[0] if isinstance(shuffle.func, cst.Attribute) else 0
    at, end = (offset - first + 1 for offset in source.whole(given.value))
    buffer, rows = factor(source, given.value), factor(source, size_of_batch.value)
    yield pipeline_chain.taken_out(source, shuffle)
    yield pipeline_chain.put_before(source, batch, f"{text[:at]}{buffer} * {rows}{text[end:]}")


@fix("TPU212", effect=Effect.ORDER, title="repeat the data")
def repeat(place: Place, source: Source) -> Iterator[Edit]:
    """`.repeat()` before the batch of fit's dataset, or on the dataset itself."""
    fit = source.call_at(place.line, "fit")
    data = argument(fit, "x", 0)
    if data is None or argument(fit, "steps_per_epoch") is None:
        raise NoChange("fit gets no dataset and steps_per_epoch on the line")
    # Before the batch: after it, each pass would end in a partial batch.
    batches = [
        call
        for call in pipeline_chain.links(source, data.value)
        if called(call) in _BATCHES and names.is_method(call)
    ]
    if len(batches) == 1:
        yield pipeline_chain.put_before(source, batches[0], ".repeat()")
    else:
        yield chained(source, data.value, ".repeat()")
