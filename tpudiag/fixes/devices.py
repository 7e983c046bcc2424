"""Changes of code made for GPUs."""

from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.edits import Edit, NoChange, called
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect


@fix("TPU007", effect=Effect.NONE, title="without tf.device", figure="device")
def without_device(place: Place, source: Source) -> Iterator[Edit]:
    """The block of `with tf.device(...)` without its head."""
    call = source.call_at(place.line, "device")
    block = source.statement(call)
    if (
        not isinstance(block, cst.With)
        or len(block.items) != 1
        or not isinstance(block.body, cst.IndentedBlock)
    ):
        raise NoChange("tf.device is not the one head of a block")
    if block.items[0].asname is not None:
        raise NoChange("the block uses what tf.device gives")
    begin = source.line_start(source.span(block)[0])
    body = min(s for s in source.starts if s > source.span(call)[1])
    last = source.next_line(source.span(block)[1])
    yield Edit(begin, last, source.shifted(body, last, -1).text)


@fix("TPU007", effect=Effect.NUMBERS, title="a TPUStrategy")
def tpu_strategy(place: Place, source: Source) -> Iterator[Edit]:
    """Replace MirroredStrategy by TPUStrategy, with what it needs."""
    call = source.call_at(
        place.line, "MirroredStrategy", "MultiWorkerMirroredStrategy", "OneDeviceStrategy"
    )
    if any(called(c) == "TPUStrategy" for c in source.calls):
        raise NoChange("the script has a TPUStrategy of its own that it does not take")
    if not isinstance(source.parent(call), cst.Assign) or not names.is_method(call):
        raise NoChange("the strategy is not assigned on the line")
    tf = names.tensorflow(source)
    resolver = pipeline_chain.fresh_name(source, "resolver", "tpu_resolver")
    yield source.before(
        call,
        f'{resolver} = {tf}.distribute.cluster_resolver.TPUClusterResolver(tpu="local")',
        f"{tf}.config.experimental_connect_to_cluster({resolver})",
        f"{tf}.tpu.experimental.initialize_tpu_system({resolver})",
    )
    yield source.replaced(call, f"{tf}.distribute.TPUStrategy({resolver})")
