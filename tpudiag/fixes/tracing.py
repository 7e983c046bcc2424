"""Changes of tracing: arguments, functions made in a loop, the step's function, prints."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.arguments import without_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect


@fix("TPU101", effect=Effect.NONE, title="pass the number as a tensor")
def number_as_tensor(place: Place, source: Source) -> Iterator[Edit]:
    """`tf.constant(value)` for the argument that changes as a Python value."""
    message = place.finding.message
    if "(python value)" not in message:
        raise NoChange("")
    name = message.partition(" was traced ")[0].rpartition(".")[2]
    changing = re.search(r": (\S+) changed \(python value\): (\S+) ", message + " ")
    # A text or None selects a trace, and cannot be a tensor.
    if changing is None or changing[2] not in ("int", "float", "bool"):
        raise NoChange("the value is no number: it has to be the same at every call")
    known = {name}
    for node in source.all(cst.Assign):
        if name in {n.value for n in source.inside(node.value, cst.Name)}:
            known.add(names.dotted(node.targets[0].target).rpartition(".")[2])
    arg = _argument(source, source.call_at(place.line, *known), changing[1])
    if isinstance(arg.value, cst.Call) and called(arg.value) in ("constant", "convert_to_tensor"):
        raise NoChange("the argument is a tensor already")
    constant = f"{names.tensorflow(source)}.constant({source.written(arg.value)})"
    yield Edit(*source.whole(arg.value), constant)


def _argument(source: Source, call: cst.Call, path: str) -> cst.Arg:
    """The argument of a call for a parameter's name, or for `argument 1`."""
    if not re.fullmatch(r"\w+", path):
        raise NoChange("the value lies inside a structure that is passed")
    given = argument(call, path)
    if given is not None:
        return given
    defined = source.functions(called(call))
    function = defined[0] if len(defined) == 1 else None
    if function is None:
        candidates = [f for f in source.all(cst.FunctionDef) if path in names.parameters(f)]
        function = candidates[0] if len(candidates) == 1 else None
    if function is None:
        raise NoChange("the function is not defined in this file")
    order = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    # Method calls do not pass `self`.
    order = order[1:] if order[:1] == ["self"] and names.is_method(call) else order
    if path not in order or (passed := argument(call, path, order.index(path))) is None:
        raise NoChange("the argument is not passed on the line")
    return passed


@fix("TPU101", effect=Effect.NONE, title="make the function once", frameworks=BOTH)
def function_before_loop(place: Place, source: Source) -> Iterator[Edit]:
    """Move a tf.function made in each iteration before the loop."""
    message = place.finding.message
    if "(new function)" not in message:
        raise NoChange("")
    name = message.partition(" was traced ")[0].rpartition(".")[2]
    made = [f for f in source.functions(name) if source.loop(f) is not None]
    if not made:
        raise NoChange("")
    if len(made) != 1 or not isinstance(loop := source.loop(made[0]), (cst.For, cst.While)):
        raise NoChange("the function is not made in a loop of this file")
    block = loop.body
    if not isinstance(block, cst.IndentedBlock) or source.block(made[0]) is not block:
        raise NoChange("the function is made under a condition in the loop")
    local = {f.name.value: f for f in block.body if isinstance(f, cst.FunctionDef)}
    moved = _with_those_it_calls(source, made[0], local)
    inside = [n for n in source.inside(loop, cst.Name) if _binds_in(source, n, moved)]
    free = {name for f in moved for name in _free(source, f)} - set(local)
    # It would keep the first value of names that change in the loop.
    if clash := free & {n.value for n in inside}:
        raise NoChange(f"it uses {', '.join(sorted(clash))} of the loop")
    first = source.line_start(source.span(loop)[0])
    texts: list[str] = []
    for function in moved:
        begin, end = _function_lines(source, function)
        texts.append(source.shifted(begin, end, -1).text.strip("\r\n") + source.newline)
        yield Edit(begin, end, "")
    gap = source.newline * (2 if source.function(loop) is None else 1)
    yield Edit(first, first, gap.join(texts) + gap)


@fix("TPU101", effect=Effect.NONE, title="make the function once", frameworks=BOTH)
def wrapped_before_loop(place: Place, source: Source) -> Iterator[Edit]:
    """Move `step = tf.function(...)`, or jax.jit's, made in each iteration before the loop."""
    if "(new function)" not in place.finding.message:
        raise NoChange("")
    called_here = {
        called(call) for call in source.inside(source.statement_at(place.line), cst.Call)
    }
    made = [
        node
        for node in source.all(cst.Assign)
        if isinstance(node.value, cst.Call)
        and called(node.value) in ("function", "jit", "pmap")
        and names.dotted(node.targets[0].target) in called_here
        and source.loop(node) is not None
    ]
    if len(made) != 1 or len(made[0].targets) != 1:
        raise NoChange("the function is not made in a loop of this file")
    loop = source.loop(made[0])
    if loop is None or source.block(made[0]) is not loop.body:
        raise NoChange("the function is made under a condition in the loop")
    own = {n.value for n in source.inside(made[0].targets[0], cst.Name)}
    bound = {n.value for n in source.inside(loop, cst.Name) if _binds_in(source, n, [])} - own
    bound |= {f.name.value for f in source.inside(loop, cst.FunctionDef)}
    if clash := bound & {n.value for n in source.inside(made[0].value, cst.Name)}:
        raise NoChange(f"it uses {', '.join(sorted(clash))} of the loop")
    first, last = source.full_lines(made[0])
    at = source.line_start(source.span(loop)[0])
    yield Edit(at, at, source.shifted(first, last, -1).text)
    yield Edit(first, last, "")


def _with_those_it_calls(
    source: Source, function: cst.FunctionDef, local: dict[str, cst.FunctionDef]
) -> list[cst.FunctionDef]:
    """A function of a loop and the adjacent ones that it needs, in the text's order."""
    needed = {function.name.value}
    waiting = [function]
    while waiting:
        for name in _free(source, waiting.pop()) & set(local) - needed:
            needed.add(name)
            waiting.append(local[name])
    return [f for n, f in local.items() if n in needed]


def _free(source: Source, function: cst.FunctionDef) -> set[str]:
    """The names that a function uses but does not bind."""
    own = names.parameters(function)
    for inner in source.inside(function.body, cst.FunctionDef):
        own |= names.parameters(inner) | {inner.name.value}
    used: set[str] = set()
    for node in source.inside(function, cst.Name):
        parent = source.parent(node)
        if isinstance(parent, cst.AssignTarget):
            own.add(node.value)
        elif not (isinstance(parent, cst.Attribute) and parent.attr is node) and not (
            isinstance(parent, cst.Arg) and parent.keyword is node
        ):
            used.add(node.value)
    return used - own


def _binds_in(source: Source, node: cst.Name, moved: list[cst.FunctionDef]) -> bool:
    return not any(above in moved for above in source.above(node)) and names.is_bound(source, node)


def _function_lines(source: Source, function: cst.FunctionDef) -> tuple[int, int]:
    """The whole lines of a function with its decorators, and blank lines before it."""
    top = function.decorators[0] if function.decorators else function
    begin = source.line_start(source.span(top)[0])
    while (before := source.text[:begin]) and re.search(r"(^|\n)[ \t]*\r?\n\Z", before):
        begin = source.line_start(begin - 1)
    return begin, source.next_line(source.span(function)[1])


@fix("TPU104", effect=Effect.ORDER, title="run the step as a graph")
def not_eagerly(place: Place, source: Source) -> Iterator[Edit]:
    """Remove run_eagerly and run_functions_eagerly."""
    for call in source.calls_at(
        place.line, "run_functions_eagerly", "experimental_run_functions_eagerly"
    ):
        yield source.removed(call)
        return
    for call in source.calls_at(place.line, "compile"):
        given = argument(call, "run_eagerly")
        if given is not None:
            yield without_argument(source, call, given)
            return
    raise NoChange("")


@fix("TPU104", effect=Effect.ORDER, title="put a tf.function around the step")
def step_in_function(place: Place, source: Source) -> Iterator[Edit]:
    """A tf.function around strategy.run: on the function that calls it, or a new one."""
    call = source.call_at(place.line, "run")
    function, loop = source.function(call), source.outermost_loop(call)
    tf = names.tensorflow(source)
    if function is not None and loop is None:
        if function.decorators:
            raise NoChange("the function has decorators, among which only its author can order it")
        if any(
            "GradientTape" in source.code(n.items[0]) for n in source.inside(function, cst.With)
        ):
            raise NoChange("the function does more than to run the step")
        yield source.before(function, f"@{tf}.function")
        return
    if loop is None or not call.args:
        raise NoChange("the step is called once, outside any function")
    step, given = source.code(call.args[0].value), argument(call, "args", 1)
    if len(call.args) != 2 or given is None or not isinstance(call.func, cst.Attribute):
        raise NoChange("the step is run with more than its arguments")
    if not names.known_at(source, names.dotted(call.args[0].value), loop):
        raise NoChange("the step's function is made in the loop")
    name = pipeline_chain.fresh_name(source, "distributed_step", "distributed_train_step")
    passed = _spread(source, given.value)
    rows = (
        "",
        "",
        f"@{tf}.function",
        f"def {name}(*args):",
        f"{source.tab}return {source.code(call.func)}({step}, args=args)",
        "",
        "",
    )
    tall = rows if source.function(loop) is None else rows[2:-1]
    yield source.before(loop, *_without_gap(source, loop, tall))
    yield source.replaced(call, f"{name}({passed})")


def _without_gap(source: Source, node: cst.CSTNode, rows: tuple[str, ...]) -> tuple[str, ...]:
    """Lines without leading blank ones that already exist in the text."""
    before = source.text[: source.line_start(source.span(node)[0])]
    blank = len(re.findall(r"\n", before[len(before.rstrip()) :])) - 1
    while blank > 0 and rows and not rows[0]:
        rows, blank = rows[1:], blank - 1
    return rows


def _spread(source: Source, args: cst.BaseExpression) -> str:
    """The elements of an argument tuple, or `*args`."""
    if isinstance(args, cst.Tuple) and args.elements:
        return ", ".join(source.code(element.value) for element in args.elements)
    return f"*{source.code(args)}"


@fix("TPU105", effect=Effect.NONE, title="take the print out of the step")
def without_print(place: Place, source: Source) -> Iterator[Edit]:
    """Remove a printing statement: the outer loop can fetch and print the value."""
    if not str(place.figure("operation")).startswith("Print"):
        raise NoChange(
            "what the Python function does has to be written with TensorFlow's operations"
        )
    yield source.removed_call(source.call_at(place.line, "print"), "what tf.print gives is used")
