"""Replaces Python numbers frozen by a trace with variables, which a graph reads each time."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.arguments import factor
from tpudiag.fixes.edits import Edit, NoChange, called
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.scope import in_scope
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect

_IN_PLACE: dict[type[cst.BaseAugOp], str] = {
    cst.AddAssign: "assign_add",
    cst.SubtractAssign: "assign_sub",
}
_OPERATORS: dict[type[cst.BaseAugOp], str] = {
    cst.MultiplyAssign: "*",
    cst.DivideAssign: "/",
    cst.PowerAssign: "**",
    cst.FloorDivideAssign: "//",
    cst.ModuloAssign: "%",
}
Setting = cst.Assign | cst.AugAssign


@fix("TPU107", effect=Effect.NUMBERS, title="keep the value in a variable", figure="when traced")
def value_in_variable(place: Place, source: Source) -> Iterator[Edit]:
    """`x = 0.1` becomes a tf.Variable in the scope, and later assignments use `assign`."""
    message = place.finding.message
    name = str(place.figure("frozen") or "")
    made, later = _number(source, name, source.statement_at(place.line))
    values = f"{place.figure('when traced')} {place.figure('in Python now')}"
    # From all values: a rate may begin as 1 and continue as 0.5, and a variable's dtype is fixed.
    dtype = "float32" if re.search(r"[.]|\de|inf|nan", values) else "int64"
    options = f"trainable=False, dtype={names.tensorflow(source)}.{dtype}"
    if " while it is traced" in message and not _is_traced(source, source.statement_at(place.line)):
        # Each replica assigns it: TensorFlow refuses that without an aggregation, and a sum would
        # count each step once per replica.
        first = f"{names.tensorflow(source)}.VariableAggregation.ONLY_FIRST_REPLICA"
        options += f", aggregation={first}"
    yield _variable(source, made, options)
    for setting in later:
        yield _assigned(source, source.code(_targets(setting)[0]), setting)
    set_by = {source.statement(n) for n in (made, *later)}
    for node in [*source.all(cst.Attribute), *source.all(cst.Name)]:
        holder = source.parent(node)
        given = isinstance(holder, cst.Arg) and holder.value is node
        call = source.parent(holder) if given and holder is not None else None
        printed = isinstance(call, cst.Call) and called(call) in ("print", "format", "info")
        if names.dotted(node) != name or source.statement(node) in set_by:
            continue
        # A variable would print as a tensor with shape and dtype.
        if printed or isinstance(holder, cst.FormattedStringExpression):
            yield source.replaced(node, f"{name}.numpy()")


def _is_traced(source: Source, node: cst.CSTNode) -> bool:
    """Whether a node is directly in a tf.function, outside a replica's function."""
    function = source.function(node)
    decorators = function.decorators if function is not None else ()
    return any("function" in source.code(each.decorator) for each in decorators)


def _number(source: Source, name: str, at: cst.CSTNode) -> tuple[cst.Assign, list[Setting]]:
    """The first assignment and the later ones: of `self.x` in its class, or a name in its scope."""
    settings: list[Setting] = [*source.all(cst.Assign), *source.all(cst.AugAssign)]
    settings.sort(key=lambda node: source.span(node)[0])
    if name.startswith("self."):
        settings = _of_class(source, name, at, settings)
    else:
        settings = _of_scope(source, name, at, settings)
    made = settings[0] if settings else None
    if not isinstance(made, cst.Assign) or len(made.targets) != 1 or source.loop(made) is not None:
        raise NoChange(f"where {name} is made for the first time is not seen in this file")
    # `a = b = 0` would give one variable two names.
    if any(isinstance(n, cst.Assign) and len(n.targets) != 1 for n in settings):
        raise NoChange(f"{name} is set together with others")
    return made, settings[1:]


def _targets(node: Setting) -> list[cst.BaseExpression]:
    return [t.target for t in node.targets] if isinstance(node, cst.Assign) else [node.target]


def _of_class(source: Source, name: str, at: cst.CSTNode, settings: list[Setting]) -> list[Setting]:
    """The assignments of an attribute: in __init__, and others, also outside the class."""
    attribute = name.partition(".")[2]
    set_ = [n for n in settings if any(_is_of(t, attribute) for t in _targets(n))]
    # The annotation would still declare a number.
    typed = [n for n in source.all(cst.AnnAssign) if _is_of(n.target, attribute)]
    parts = [
        n
        for n in settings
        for t in _targets(n)
        for p in source.inside(t, cst.Attribute)
        if _is_of(p, attribute) and n not in set_
    ]
    own = [n for n in set_ if names.dotted(_targets(n)[0]) == name]
    if typed or parts or {source.class_of(n) for n in own} != {source.class_of(at)}:
        raise NoChange(f"{name} is set in ways that are not followed")
    function = source.function(own[0])
    if function is None or function.name.value != "__init__":
        raise NoChange(f"where {name} is made for the first time is not seen in this file")
    return [own[0], *(n for n in set_ if n is not own[0])]


def _is_of(target: cst.CSTNode, attribute: str) -> bool:
    return (
        isinstance(target, cst.Attribute)
        and target.attr.value == attribute
        and bool(names.dotted(target))
    )


def _of_scope(source: Source, name: str, at: cst.CSTNode, settings: list[Setting]) -> list[Setting]:
    """The assignments of a plain name in its function or module."""
    named = [n for n in settings if name in {names.dotted(t) for t in _targets(n)}]
    functions = source.all(cst.FunctionDef)
    bindings = [
        n for scope in (source.module, *functions) for n in names.bound(source, scope, name)
    ]
    if not name.isidentifier() or len(named) != len(bindings):
        raise NoChange(f"{name} is set in ways that are not followed")
    outer = {id(f) for f in functions if _declares(source, f, name)}
    around = [n for n in source.above(at) if isinstance(n, cst.FunctionDef)]
    for scope in (*around, None):
        # A global or nonlocal name belongs to an outer scope.
        if scope is not None and id(scope) in outer:
            continue
        if any(source.function(n) is scope for n in named):
            held = [
                n for n in named if source.function(n) is scope or id(source.function(n)) in outer
            ]
            first = next(n for n in held if source.function(n) is scope)
            return [first, *(n for n in held if n is not first)]
    return []


def _declares(source: Source, function: cst.FunctionDef, name: str) -> bool:
    declared: list[cst.Global | cst.Nonlocal] = list(source.inside(function, cst.Global))
    declared += source.inside(function, cst.Nonlocal)
    return any(
        item.name.value == name
        for node in declared
        if source.function(node) is function
        for item in node.names
    )


def _variable(source: Source, made: cst.Assign, options: str) -> Edit:
    """The assignment of a tf.Variable, in the strategy's scope."""
    first, last = source.whole(made.value)
    value = f"{names.tensorflow(source)}.Variable({source.text[first:last]}, {options})"
    if in_scope(source, made):
        return Edit(first, last, value)
    strategy = names.strategy(source, made)
    begin, end = source.full_lines(made)
    line = source.shifted(begin, end, 1).text
    old = source.text[source.span(made)[0] : last]
    if line.count(old) != 1:
        raise NoChange("the assignment stands on several lines")
    target = source.text[source.span(made)[0] : first]
    head = f"{source.indent(made)}with {strategy}.scope():{source.newline}"
    return Edit(begin, end, head + line.replace(old, target + value))


def _assigned(source: Source, name: str, setting: Setting) -> Edit:
    """`x.assign(...)` for a statement that sets x."""
    value = source.written(setting.value)
    if isinstance(setting, cst.Assign):
        return source.replaced(setting, f"{name}.assign({value})")
    kind = type(setting.operator)
    if kind in _IN_PLACE:
        return source.replaced(setting, f"{name}.{_IN_PLACE[kind]}({value})")
    if kind not in _OPERATORS:
        raise NoChange(f"{name} is set in ways that are not followed")
    change = f"{name} {_OPERATORS[kind]} {factor(source, setting.value)}"
    return source.replaced(setting, f"{name}.assign({change})")
