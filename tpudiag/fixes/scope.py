"""Changes of where variables are made: moves them into strategy.scope()."""

from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.edits import Edit, NoChange, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect


@fix("TPU501", effect=Effect.NUMBERS, title="build the optimizer's variables in the scope")
def optimizer_built_in_scope(place: Place, source: Source) -> Iterator[Edit]:
    """`optimizer.build(...)` after the optimizer, where its first step makes its variables."""
    apply = next(iter(source.calls_at(place.line, "apply_gradients", "minimize")), None)
    if apply is None or not isinstance(apply.func, cst.Attribute):
        raise NoChange("")
    optimizer = names.dotted(apply.func.value)
    made = [
        node for node in source.all(cst.Assign) if names.dotted(node.targets[0].target) == optimizer
    ]
    if len(made) != 1 or not in_scope(source, made[0]):
        raise NoChange("the optimizer is not made once in the scope")
    models = {
        source.code(node)
        for node in source.all(cst.Attribute)
        if node.attr.value == "trainable_variables" and names.dotted(node)
    }
    known = sorted(m for m in models if names.known_at(source, m.rpartition(".")[0], made[0]))
    variables = only(known, "which variables it trains is not seen where it is made")
    yield source.after(made[0], f"{optimizer}.build({variables})")


@fix("TPU501", effect=Effect.NUMBERS, title="make it in the strategy's scope")
def made_in_scope(place: Place, source: Source) -> Iterator[Edit]:
    """Move the statement that makes variables, and adjacent ones, into the strategy's scope."""
    run = _with_its_like(source, _made_by(source, place.line))
    strategy = names.strategy(source, run[0])
    first, last = source.full_lines(run[0])[0], source.full_lines(run[-1])[1]
    body = source.shifted(first, last, 1).text
    following = _next(source, run[-1])
    # Extend a scope that begins right after it, instead of opening a second one.
    if isinstance(following, cst.With) and _is_scope(source, following):
        inner = following.body.body[0] if isinstance(following.body, cst.IndentedBlock) else None
        if inner is not None and not source.text[last : source.span(following)[0]].strip():
            at = source.line_start(source.span(inner)[0])
            yield Edit(first, last, "")
            yield Edit(at, at, body if body.endswith(("\n", "\r")) else body + source.newline)
            return
    head = f"{source.indent(run[0])}with {strategy}.scope():{source.newline}"
    yield Edit(first, last, head + body)


def _made_by(source: Source, line: int | None) -> cst.SimpleStatementLine:
    """The statement outside the scope that makes a line's objects, or calls its function."""
    statement = source.statement_at(line)
    # Outwards through callers: the scope belongs around the call, not in a shared helper.
    for _ in range(3):
        if in_scope(source, statement):
            raise NoChange("it stands in a scope already")
        function = source.function(statement)
        if function is None:
            break
        callers = source.calls_of(function.name.value)
        if any(True for _ in names.bound(source, function, "self")) or not callers:
            break
        outside = [c for c in callers if not in_scope(source, c)]
        caller = only(outside, "the function that makes it is called in several places")
        statement = source.statement(caller)
    if not isinstance(statement, cst.SimpleStatementLine):
        raise NoChange("it is not made by a statement of its own")
    return statement


def _with_its_like(
    source: Source, statement: cst.SimpleStatementLine
) -> list[cst.SimpleStatementLine]:
    """A statement and those right after it that also make variables, metrics or models."""
    block = source.block(statement)
    rest = list(block.body)[list(block.body).index(statement) :]
    run: list[cst.SimpleStatementLine] = []
    for each in rest:
        if not isinstance(each, cst.SimpleStatementLine) or (run and not _makes(source, each)):
            break
        run.append(each)
    return run


def _makes(source: Source, statement: cst.SimpleStatementLine) -> bool:
    """Whether a statement makes variables, a model, an optimizer or a metric."""
    if not any(isinstance(part, cst.Assign) for part in statement.body):
        return False
    paths = [names.dotted(call.func) for call in source.inside(statement, cst.Call)]
    return any(
        path.endswith(".Variable")
        or ".metrics." in path
        or ".optimizers." in path
        or ".layers." in path
        or path.endswith((".Sequential", ".Model"))
        for path in paths
    )


def in_scope(source: Source, node: cst.CSTNode) -> bool:
    """Whether a node stands in `with strategy.scope():`."""
    return any(isinstance(n, cst.With) and _is_scope(source, n) for n in source.above(node))


def _is_scope(source: Source, block: cst.With) -> bool:
    return any(source.code(item.item).endswith(".scope()") for item in block.items)


def _next(source: Source, statement: cst.CSTNode) -> cst.CSTNode | None:
    body = list(source.block(statement).body)
    at = next(n for n, each in enumerate(body) if each is statement)
    return body[at + 1] if at + 1 < len(body) else None
