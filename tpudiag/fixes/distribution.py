"""Changes of the batch and of how data is distributed."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.arguments import chained, factor, new_value
from tpudiag.fixes.edits import Edit, NoChange, argument, called, literal, needed, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect

MOST_CALLERS = 3
"""How many functions are followed outwards from a step to the loop that calls it."""


@fix("TPU205", effect=Effect.NUMBERS, title="batch by the right number")
def batch_size(place: Place, source: Source) -> Iterator[Edit]:
    """Use the global batch where it is split between replicas, the replica's where it is not."""
    message = place.finding.message
    if "before it is distributed" in message:
        raise NoChange("the job does not come to its first step")
    call = source.call_at(place.line, "batch", "padded_batch")
    given = needed(argument(call, "batch_size", 0), "the batch has no size on the line")
    if "does not divide" in message:
        calls = [c for c in source.calls if called(c) in ("batch", "padded_batch") and c.args]
        zipped = any(called(c) == "zip" and names.is_method(c) for c in source.calls)
        for each in calls if zipped else [call]:  # zipped batches are of one size
            given = needed(argument(each, "batch_size", 0), "a batch has no size")
            yield _number(source, given, place.figure("batch"), place.figure("replicas"))
    elif "gets the global batch" in message:
        context = _context(source, call)
        yield new_value(
            source, given, f"{context}.get_per_replica_batch_size({source.code(given.value)})"
        )
    else:  # the replica's batch, which is divided once more
        yield new_value(source, given, _global(source, given.value, call))


def _number(source: Source, given: cst.Arg, batch: object, replicas: object) -> Edit:
    """The number of a batch size, as a multiple of the replicas."""
    value = pipeline_chain.constant_of(source, given.value, given)
    if not (isinstance(batch, int) and isinstance(replicas, int) and literal(value) == batch):
        raise NoChange("the number of the batch stands in no plain assignment")
    return source.replaced(value, str(max(batch // replicas, 1) * replicas))


def _context(source: Source, node: cst.CSTNode) -> str:
    function = source.function(node)
    given = (
        [p.name.value for p in function.params.params if p.name.value != "self"] if function else []
    )
    return only(given, "the function has no input context as its one parameter")


def _global(source: Source, size: cst.BaseExpression, at: cst.Call) -> str:
    """The script's own name for the global batch, or its product of batch and replicas."""
    text, strategy = source.code(size), names.strategy(source, at)
    # The script's own name has priority, so that later changes of the batch apply in both places.
    products = {
        f"{text} * {strategy}.num_replicas_in_sync",
        f"{strategy}.num_replicas_in_sync * {text}",
    }
    for node in source.all(cst.Assign):
        name = names.dotted(node.targets[0].target)
        if source.code(node.value) in products and name and names.known_at(source, name, at):
            return name
    return f"{factor(source, size)} * {strategy}.num_replicas_in_sync"


@fix("TPU206", "TPU214", effect=Effect.NUMBERS, title="shard the data")
def shard(place: Place, source: Source) -> Iterator[Edit]:
    """AutoShardPolicy.DATA, or `.shard` by host where a function makes the data."""
    message = place.finding.message
    if "input_pipeline_id" in place.finding.fix:
        yield _by_host(source, place.line)
        return
    if place.id == "TPU214":
        raise NoChange("")
    if "falls back" in message:
        raise NoChange("which files each host is to read, only their author knows")
    # A policy set by the script is changed: a second one would conflict with it.
    policies = [
        node
        for node in source.all(cst.Attribute)
        if node.attr.value in ("OFF", "FILE", "AUTO")
        and names.dotted(node.value).endswith("AutoShardPolicy")
    ]
    if len(policies) == 1:
        yield source.replaced(policies[0].attr, "DATA")
        return
    if policies:
        raise NoChange("several AutoShardPolicies are set in the file")
    reader = source.call_at(place.line, *pipeline_chain.SOURCES, *pipeline_chain.METHODS)
    tf, name = names.tensorflow(source), pipeline_chain.fresh_name(source, "options", "sharding")
    yield source.before(
        reader,
        f"{name} = {tf}.data.Options()",
        f"{name}.experimental_distribute.auto_shard_policy = "
        f"{tf}.data.experimental.AutoShardPolicy.DATA",
    )
    yield chained(source, reader, f".with_options({name})")


def _by_host(source: Source, line: int | None) -> Edit:
    """Each host's part, selected at the source of the data."""
    at = next(iter(source.calls_at(line, *pipeline_chain.METHODS, *pipeline_chain.SOURCES)), None)
    function = source.function(at) if at is not None else None
    if at is None or function is None:
        raise NoChange("the function that makes the data is not on the line")
    context = _context(source, at)
    begins = [
        call for call in source.inside(function, cst.Call) if called(call) in pipeline_chain.SOURCES
    ]
    first = only(begins, "the data begin in several places")
    link = f".shard({context}.num_input_pipelines, {context}.input_pipeline_id)"
    return chained(source, first, link)


@fix("TPU505", effect=Effect.NUMBERS, title="distribute the dataset")
def distribute(place: Place, source: Source) -> Iterator[Edit]:
    """`strategy.experimental_distribute_dataset` around the loop's dataset."""
    data, where = _read(source, place.line)
    strategy = names.strategy(source, where)
    wrapped = f"{strategy}.experimental_distribute_dataset({source.code(data)})"
    # Before the outermost loop, so that iterators and buffers are not recreated in each epoch.
    outer = source.outermost_loop(where)
    if outer is None or not names.known_at(source, names.dotted(data) or "", outer):
        yield Edit(*source.whole(data), wrapped)
        return
    name = pipeline_chain.fresh_name(source, "distributed", "distributed_dataset")
    yield source.before(outer, f"{name} = {wrapped}")
    yield Edit(*source.whole(data), name)


def _read(source: Source, line: int | None) -> tuple[cst.BaseExpression, cst.CSTNode]:
    """The dataset of the batches that a line trains on, and the node that reads it."""
    node: cst.CSTNode = next(iter(source.calls_at(line, "run", "iter")), source.statement_at(line))
    for _ in range(MOST_CALLERS):
        read = next(_reads(source, node), None)
        if read is not None:
            return read
        function = source.function(node)
        callers = [c for c in source.calls if function and called(c) == function.name.value]
        if len(callers) != 1:
            break
        node = callers[0]
    raise NoChange("the loop that reads the dataset is not seen in this file")


def _reads(source: Source, node: cst.CSTNode) -> Iterator[tuple[cst.BaseExpression, cst.CSTNode]]:
    """The datasets of a call's arguments, read by an iterator or by the loops around it."""
    statement = source.statement(node)
    if not isinstance(statement, cst.BaseCompoundStatement):
        for name in source.inside(statement, cst.Name):
            made = assigned_iterator(source, name)
            if made is not None:
                yield _innermost(made.args[0].value), made
        for call in source.inside(statement, cst.Call):
            if called(call) == "iter" and call.args:
                yield _innermost(call.args[0].value), call
    loop: cst.CSTNode | None = statement if isinstance(statement, cst.For) else source.loop(node)
    while isinstance(loop, (cst.For, cst.While)):
        if isinstance(loop, cst.For):
            data = _innermost(loop.iter)
            of_method = isinstance(data, cst.Call) and called(data) in pipeline_chain.METHODS
            if isinstance(data, (cst.Name, cst.Attribute)) or of_method:
                made = assigned_iterator(source, data) if isinstance(data, cst.Name) else None
                yield (_innermost(made.args[0].value), made) if made else (data, loop)
        loop = source.loop(loop)


def assigned_iterator(source: Source, name: cst.Name) -> cst.Call | None:
    """The call of `iter` that a name refers to."""
    made = names.assigned(source, name.value, name)
    value = made.value if made is not None else None
    return value if isinstance(value, cst.Call) and called(value) == "iter" and value.args else None


def _innermost(node: cst.BaseExpression) -> cst.BaseExpression:
    """The innermost iterable of `enumerate`, `zip`, `tqdm` and similar."""
    while isinstance(node, cst.Call) and called(node) in ("enumerate", "tqdm", "zip", "islice"):
        plain = [arg.value for arg in node.args if arg.keyword is None]
        chosen = [
            a for a in plain if not (isinstance(a, cst.Call) and called(a) in ("range", "count"))
        ]
        if not chosen:
            return node
        node = chosen[0]
    return node


@fix("TPU401", effect=Effect.MODEL, title="a batch that fills the tiles", frameworks=BOTH)
def batch_of_tiles(place: Place, source: Source) -> Iterator[Edit]:
    """The next batch that fills the tiles, as the script's own number."""
    wanted = re.match(r"global_batch = (\d+)", place.finding.fix)
    now, replicas = place.figure("global batch"), place.figure("replicas")
    if wanted is None or not isinstance(now, int) or not isinstance(replicas, int):
        raise NoChange("no better batch is known")
    calls = [c for c in source.calls if called(c) in ("batch", "padded_batch") and c.args]
    for call in (*source.calls_at(place.line, "batch", "padded_batch"), *calls):
        given = argument(call, "batch_size", 0)
        value = pipeline_chain.constant_of(source, given.value, call) if given is not None else None
        if value is not None and literal(value) == now:
            yield source.replaced(value, wanted[1])
            return
        # `128 * strategy.num_replicas_in_sync`: the number of one replica changes.
        if isinstance(value, cst.BinaryOperation) and isinstance(value.operator, cst.Multiply):
            each = [n for n in (value.left, value.right) if literal(n) == now // replicas]
            if len(each) == 1 and "num_replicas_in_sync" in source.code(value):
                yield source.replaced(each[0], str(int(wanted[1]) // replicas))
                return
    raise NoChange("the number of the batch stands in no plain assignment")


@fix("TPU402", effect=Effect.MODEL, title="a width that fills the MXU", frameworks=BOTH)
def width_of_tiles(place: Place, source: Source) -> Iterator[Edit]:
    """The next multiple of the tile for the width of the layer at the line."""
    sizes = dict(re.findall(r"(\d+) -> (\d+)", place.finding.fix))
    if place.line is None or not sizes:
        raise NoChange("the layer has no line")
    changed = False
    for number in source.all(cst.Integer):
        first, last = source.lines(number)
        # A number in a product or index may be something other than a width.
        in_call = isinstance(source.parent(number), cst.Arg)
        if first == last == place.line and in_call and number.value in sizes:
            changed = True
            yield source.replaced(number, sizes[number.value])
    if not changed:
        raise NoChange("the width does not stand on the line as a number")
