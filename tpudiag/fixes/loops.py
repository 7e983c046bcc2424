"""Changes of the loop around the step: fetches, iterators, setup, replicas' results."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.arguments import set_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called, needed, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect

EVERY = 100
"""Steps between two fetches of a result."""
_FROM_FUNCTION = ("distribute_datasets_from_function",
                  "experimental_distribute_datasets_from_function")  # fmt: skip
_STEPS = ("step", "batch_number", "step_number")


@fix("TPU108", effect=Effect.NONE, title="keep the sum on the device", frameworks=BOTH)
def sum_on_device(place: Place, source: Source) -> Iterator[Edit]:
    """`total += float(loss)` becomes `total += loss`, without a fetch; `append` likewise."""
    statement = source.statement_at(place.line)
    if not isinstance(statement, cst.SimpleStatementLine):
        raise NoChange("")
    kept: list[cst.CSTNode] = [n.value for n in source.inside(statement, cst.AugAssign)]
    kept += [c for c in source.inside(statement, cst.Call) if called(c) == "append"]
    replaced: list[tuple[int, int]] = []
    for call in (call for node in kept for call in source.inside(node, cst.Call)):
        inner, place_of_call = _fetched(call), source.span(call)
        # `float(loss.numpy())` is replaced as a whole, including the inner call.
        if inner is None or any(a <= place_of_call[0] < b for a, b in replaced):
            continue
        replaced.append(place_of_call)
        yield source.replaced(call, source.written(inner))
    if not replaced:
        raise NoChange("")


def _fetched(call: cst.Call) -> cst.BaseExpression | None:
    """The value that `float(x)` or `x.numpy()` fetches; None for another call."""
    if isinstance(call.func, cst.Name) and call.func.value == "float" and len(call.args) == 1:
        inner = call.args[0].value
        return (_fetched(inner) or inner) if isinstance(inner, cst.Call) else inner
    if called(call) == "numpy" and not call.args and isinstance(call.func, cst.Attribute):
        return call.func.value
    return None


@fix("TPU108", effect=Effect.NONE, title=f"fetch every {EVERY} steps", frameworks=BOTH)
def fetch_seldom(place: Place, source: Source) -> Iterator[Edit]:
    """Run the fetching statement every 100th step."""
    statement = source.statement_at(place.line)
    if isinstance(statement, (cst.For, cst.While, cst.With, cst.FunctionDef)):
        raise NoChange("the statement that fetches holds the step itself")
    _refuse_results_that_are_used(source, statement)
    loop = source.parent(source.block(statement))
    if not isinstance(loop, (cst.For, cst.While)):
        raise NoChange("the line is not in the loop over the steps")
    leaving = (cst.Break, cst.Continue, cst.Return)
    if any(True for kind in leaving for _ in source.inside(statement, kind)):
        raise NoChange("the loop ends by what is fetched")
    number, counting = counter(source, loop)
    yield from counting
    first, last = source.full_lines(statement)
    shifted = source.shifted(first, last, 1)
    head = f"{source.indent(statement)}if {number} % {EVERY} == 0:{source.newline}"
    yield Edit(first, last, head + shifted.text)


def _refuse_results_that_are_used(
    source: Source, statement: cst.SimpleStatementLine | cst.BaseCompoundStatement
) -> None:
    """Raise NoChange where a statement's results are read outside of it."""
    made = {
        target.target.value
        for target in source.inside(statement, cst.AssignTarget)
        if isinstance(target.target, cst.Name)
    }
    first, last = source.span(statement)
    if list(source.inside(statement, cst.AugAssign)):
        raise NoChange("it adds up what it fetches, step by step")
    if any(called(c) in ("append", "extend", "update") for c in source.inside(statement, cst.Call)):
        raise NoChange("it keeps what it fetches of each step")
    compound = isinstance(statement, cst.BaseCompoundStatement)
    for name in source.all(cst.Name):
        at = source.span(name)[0]
        outside = not first <= at < last
        if name.value in made and outside and not compound and at > first:
            raise NoChange(f"{name.value} is used after it")


def counter(source: Source, loop: cst.For | cst.While) -> tuple[str, list[Edit]]:
    """The name of a loop's step number, with edits that create it if necessary."""
    if isinstance(loop, cst.While):
        counters = {
            n.target.value
            for n in source.inside(loop, cst.AugAssign)
            if isinstance(n.target, cst.Name) and source.code(n.value) == "1"
        }
        return only([*counters], "the loop counts no steps"), []
    if isinstance(loop.iter, cst.Call):
        name, target = called(loop.iter), loop.target
        if name in ("range", "trange") and isinstance(target, cst.Name) and target.value != "_":
            return target.value, []
        ranged = name == "zip" and loop.iter.args and isinstance(loop.iter.args[0].value, cst.Call)
        counts = ranged and called(loop.iter.args[0].value) in ("range", "count")  # type: ignore[arg-type]
        if (name == "enumerate" or counts) and isinstance(target, cst.Tuple):
            number = target.elements[0].value
            if isinstance(number, cst.Name) and number.value != "_":
                return number.value, []
        if name in ("range", "trange") and isinstance(target, cst.Name):
            number_name = pipeline_chain.fresh_name(source, *_STEPS)
            return number_name, [source.replaced(target, number_name)]
    number_name = pipeline_chain.fresh_name(source, *_STEPS)
    text = source.written(loop.target)
    tuple_ = isinstance(loop.target, cst.Tuple) and not loop.target.lpar
    counted = f"{number_name}, ({text})" if tuple_ else f"{number_name}, {text}"
    return number_name, [
        Edit(*source.whole(loop.target), counted),
        Edit(*source.whole(loop.iter), f"enumerate({source.written(loop.iter)})"),
    ]


@fix("TPU211", effect=Effect.NUMBERS, title="start the iterator once")
def iterator_before_loop(place: Place, source: Source) -> Iterator[Edit]:
    """Move `iter(dataset)` before the loop, where the dataset is endless."""
    if place.figure("datasets read by this line") is not None:
        raise NoChange("where the pipeline is to be built, only its author knows")
    call = source.call_at(place.line, "iter")
    loop = source.loop(call)
    if loop is None or not call.args:
        raise NoChange("the loop that calls it is not in the same function")
    data = call.args[0].value
    if not _is_endless(source, data):
        raise NoChange("no endless repeat is seen, and a loop over the steps would come to the end")
    outer = source.outermost_loop(loop) or loop
    inside = {name.value for name in source.inside(outer, cst.Name) if names.is_bound(source, name)}
    if inside & {name.value for name in source.inside(data, cst.Name)}:
        raise NoChange("the dataset is made in the loop")
    name = pipeline_chain.fresh_name(source, "iterator", "batches", "batch_iterator")
    yield source.before(outer, f"{name} = {source.code(call)}")
    yield source.replaced(call, name)


def _is_endless(source: Source, data: cst.BaseExpression) -> bool:
    """Whether a dataset repeats for ever, including one made by a function of the file."""
    chain = pipeline_chain.links(source, data)
    for first in chain[:1]:
        passed = called(first) in _FROM_FUNCTION and first.args
        made = _given_by(source, first.args[0].value if passed else first.func)
        chain += pipeline_chain.links(source, made) if made is not None else []
    return any(c for c in chain if called(c) == "repeat" and argument(c, "count", 0) is None)


def _given_by(source: Source, function: cst.BaseExpression) -> cst.BaseExpression | None:
    """The result of a lambda, or of a function of the file with one return."""
    if isinstance(function, cst.Lambda):
        body = function.body
        inner = _given_by(source, body.func) if isinstance(body, cst.Call) else None
        return inner or body
    named = source.functions(names.dotted(function).rpartition(".")[2])
    returns = [r for f in named for r in source.inside(f, cst.Return) if source.function(r) is f]
    return returns[0].value if len(named) == len(returns) == 1 else None


@fix("TPU109", effect=Effect.NONE, title="initialise the TPU once", figure="initialisations")
def initialise_once(place: Place, source: Source) -> Iterator[Edit]:
    """Remove the second call of initialize_tpu_system."""
    name = "initialize_tpu_system"
    call = source.call_at(place.line, name)
    if not [c for c in source.calls_of(name) if c is not call]:
        raise NoChange("the same line does it each time: its function is to be called once")
    yield source.removed_call(call, "what it gives is used")


@fix(
    "TPU109",
    effect=Effect.NUMBERS,
    title="compile once, before the loop",
    figure="compiles of one line",
)
def compile_once(place: Place, source: Source) -> Iterator[Edit]:
    """Move `compile` before the loop; assign a changing learning rate instead."""
    call = source.call_at(place.line, "compile")
    loop = source.loop(call)
    if not isinstance(loop, cst.For) or not isinstance(source.parent(call), cst.Expr):
        raise NoChange("the loop that compiles is not in the same function")
    statement: cst.CSTNode = source.statement(call)
    holder = source.parent(source.block(statement))
    if isinstance(holder, cst.With) and isinstance(holder.body, cst.IndentedBlock):
        if len(holder.body.body) != 1:
            raise NoChange("the block that compiles does more")
        statement = holder
    if source.parent(source.block(statement)) is not loop:
        raise NoChange("it is compiled under a condition in the loop")
    changing = {n.value for n in source.inside(loop, cst.Name) if names.is_bound(source, n)}
    used = [n for n in source.inside(call, cst.Name) if n.value in changing]
    first, last = source.full_lines(statement)
    at = source.line_start(source.span(loop)[0])
    model = source.code(call.func.value) if isinstance(call.func, cst.Attribute) else ""
    if not used:
        yield Edit(at, at, source.shifted(first, last, -1).text)
        yield Edit(first, last, "")
        return
    rate = _rate(source, call, used)
    begin, end = source.span(rate)
    text = source.shifted(first, last, -1).text
    if source.text[first:last].count(source.text[begin:end]) != 1 or "\n" in source.text[begin:end]:
        raise NoChange("what it is compiled with changes from turn to turn")
    yield Edit(at, at, text.replace(source.text[begin:end], "", 1))
    row = f"{source.indent(statement)}{model}.optimizer.learning_rate = {source.code(rate.value)}"
    yield Edit(first, last, row + source.newline)


def _rate(source: Source, call: cst.Call, used: list[cst.Name]) -> cst.Arg:
    """The optimizer's learning rate, if it is all that changes in a compile in the loop."""
    optimizer = argument(call, "optimizer", 0)
    made = optimizer.value if optimizer is not None else None
    if isinstance(made, cst.Call) and len(made.args) == 1:
        rate = argument(made, "learning_rate", 0)
        if rate is not None and all(n in set(source.inside(rate, cst.Name)) for n in used):
            return rate
    raise NoChange("what it is compiled with changes from turn to turn")


@fix("TPU507", effect=Effect.NUMBERS, title="reduce over all replicas")
def reduce_over_replicas(place: Place, source: Source) -> Iterator[Edit]:
    """`strategy.reduce` instead of replica 0's part; SUM instead of MEAN where appropriate."""
    if place.figure("reduced by") is not None:
        call = source.call_at(place.line, "reduce")
        yield sum_for_mean(source, call)
        return
    call = source.call_at(place.line, "experimental_local_results")
    taken = source.parent(call)
    if not isinstance(taken, cst.Subscript) or not isinstance(call.func, cst.Attribute):
        raise NoChange("the part of replica 0 is taken elsewhere")
    # Losses scaled by the global batch are parts of a sum; others are means.
    scaled = any(called(c) == "compute_average_loss" for c in source.calls) or re.search(
        r"/\s*\(?\s*\w*(global_?batch|num_replicas)", source.text, re.IGNORECASE
    )
    how = "SUM" if scaled else "MEAN"
    tf, strategy = names.tensorflow(source), source.code(call.func.value)
    value = ", ".join(source.code(arg.value) for arg in call.args)
    yield source.replaced(
        taken, f"{strategy}.reduce({tf}.distribute.ReduceOp.{how}, {value}, axis=None)"
    )


def sum_for_mean(source: Source, call: cst.Call) -> Edit:
    """Make a reduce sum instead of average; raises NoChange."""
    given = needed(argument(call, "reduce_op", 0), "the reduction is not given on the line").value
    if isinstance(given, cst.Attribute) and given.attr.value == "MEAN":
        return source.replaced(given.attr, "SUM")
    text = source.code(given)
    if re.fullmatch(r"(['\"])mean\1", text, re.IGNORECASE):
        return source.replaced(given, text.replace("mean", "sum").replace("MEAN", "SUM"))
    raise NoChange("the reduction is not given as MEAN on the line")


@fix("TPU106", effect=Effect.NONE, title="run several steps in a dispatch")
def steps_per_execution(_: Place, source: Source) -> Iterator[Edit]:
    """`steps_per_execution` for the file's one compile."""
    compiles = [c for c in source.calls if called(c) == "compile" and names.is_method(c)]
    one = only(compiles, "the loop of a custom step has to move into its tf.function")
    yield set_argument(source, one, "steps_per_execution", "50")
