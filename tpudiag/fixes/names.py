"""The user's names for TensorFlow, Keras, the strategy and AUTOTUNE."""

from collections import Counter
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes.edits import NoChange, called
from tpudiag.fixes.source import Source

STRATEGY_USES = (
    "scope", "run", "num_replicas_in_sync", "experimental_distribute_dataset",
    "distribute_datasets_from_function", "reduce", "experimental_run_v2",
)  # fmt: skip
_TRAINABLE = ("trainable_variables", "trainable_weights")
_STRATEGIES = ("TPUStrategy", "MirroredStrategy", "MultiWorkerMirroredStrategy")


def modules(source: Source) -> Iterator[tuple[str, str]]:
    """Each (name, dotted path) that the script's imports bind."""
    for node in source.all(cst.Import):
        for item in node.names:
            path = dotted(item.name)
            name = item.evaluated_alias or path.partition(".")[0]
            yield name, path if item.asname else name
    for from_ in source.all(cst.ImportFrom):
        # The names of star and relative imports are unknown here, and none of them is TensorFlow's.
        if from_.module is None or from_.relative or isinstance(from_.names, cst.ImportStar):
            continue
        for item in from_.names:
            path = f"{dotted(from_.module)}.{item.evaluated_name}"
            yield item.evaluated_alias or dotted(item.name), path


def dotted(node: cst.CSTNode) -> str:
    """`a.b.c` of names and attributes, empty for anything else."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        before = dotted(node.value)
        return f"{before}.{node.attr.value}" if before else ""
    return ""


def tensorflow(source: Source) -> str:
    """The script's name for TensorFlow; raises NoChange where it is not imported."""
    for name, path in modules(source):
        if path in ("tensorflow", "tensorflow.compat.v2"):
            return name
    raise NoChange("the file does not import tensorflow itself")


def keras(source: Source) -> str:
    """The script's name for Keras: `keras`, or `tf.keras`; raises NoChange."""
    known = dict(modules(source))
    for name, path in known.items():
        if path in ("keras", "tf_keras", "tensorflow.keras", "tensorflow.python.keras"):
            return name
    for call in source.calls:
        if ".keras." in f".{dotted(call.func)}." and dotted(call.func).partition(".")[0] in known:
            return dotted(call.func).partition(".keras")[0] + ".keras"
    # With only parts of Keras imported: usually it is TensorFlow's, and a change of another Keras
    # has no effect and is dropped.
    return f"{tensorflow(source)}.keras"


def trained(source: Source) -> dict[str, None]:
    """The script's names for the models whose trainable variables it takes."""
    taken = (n for n in source.all(cst.Attribute) if n.attr.value in _TRAINABLE)
    return dict.fromkeys(name for node in taken if (name := dotted(node.value)))


def autotune(source: Source, *before: cst.CSTNode) -> str:
    """`tf.data.AUTOTUNE` by the script's own name for it, where that is one of the module."""
    constants = ("data.AUTOTUNE", "data.experimental.AUTOTUNE")
    for node in source.all(cst.Assign):
        value, target = dotted(node.value), node.targets[0].target
        at_top = source.function(node) is None and isinstance(target, cst.Name)
        early = all(source.span(node)[0] < source.span(other)[0] for other in before)
        # A function runs after the whole module has run: the order of lines does not matter.
        inside = any(source.function(other) is not None for other in before)
        if (
            at_top
            and value.endswith(constants)
            and (early or inside)
            and source.class_of(node) is None
        ):
            return target.value if isinstance(target, cst.Name) else ""
    for name, path in modules(source):
        if path in ("tensorflow.data.AUTOTUNE", "tensorflow.data.experimental.AUTOTUNE"):
            return name
    return f"{tensorflow(source)}.data.AUTOTUNE"


def strategy(source: Source, at: cst.CSTNode) -> str:
    """An expression for the strategy usable at a node; raises NoChange."""
    uses = Counter(
        source.code(node.value)
        for node in source.all(cst.Attribute)
        if node.attr.value in STRATEGY_USES and _may_be_strategy(source, node)
    )
    for name in dict.fromkeys(
        (*(name for name, _ in uses.most_common()), *_made_strategies(source))
    ):
        if known_at(source, name, at):
            return name
    raise NoChange("the strategy has no name that is known on this line")


def _may_be_strategy(source: Source, node: cst.Attribute) -> bool:
    """Whether an attribute's object is a strategy, by its use or name."""
    name = dotted(node.value)
    if not name:
        return False
    if node.attr.value in (
        "num_replicas_in_sync",
        "experimental_distribute_dataset",
        "distribute_datasets_from_function",
    ):
        # An input context has num_replicas_in_sync, too.
        return "get_strategy" not in name and "context" not in name and "ctx" not in name
    return "strat" in name.lower() or name in _made_strategies(source)


def _made_strategies(source: Source) -> tuple[str, ...]:
    return tuple(
        dotted(target.target)
        for node in source.all(cst.Assign)
        if isinstance(node.value, cst.Call) and called(node.value) in _STRATEGIES
        for target in node.targets
    )


def known_at(source: Source, name: str, at: cst.CSTNode) -> bool:
    """Whether a name, or the first part of a dotted one, is bound before a node runs."""
    first, _, rest = name.partition(".")
    place = source.span(at)[0]
    for above in source.above(at):
        if isinstance(above, cst.FunctionDef):
            if first in parameters(above):
                return not rest or first != "self" or _same_class(source, name, at)
            if any(source.span(n)[0] < place for n in bound(source, above, first)):
                return True
    in_function = source.function(at) is not None
    return any(
        in_function or source.span(node)[0] < place for node in bound(source, source.module, first)
    )


def _same_class(source: Source, name: str, at: cst.CSTNode) -> bool:
    inside = source.class_of(at)
    return inside is not None and any(
        source.code(node) == name for node in source.inside(inside, cst.Attribute)
    )


def parameters(function: cst.FunctionDef) -> set[str]:
    """The names of a function's parameters."""
    given = function.params
    names = {p.name.value for p in (*given.posonly_params, *given.params, *given.kwonly_params)}
    for star in (given.star_arg, given.star_kwarg):
        if isinstance(star, cst.Param):
            names.add(star.name.value)
    return names


def bound(source: Source, scope: cst.CSTNode, name: str) -> Iterator[cst.CSTNode]:
    """The nodes of a module or function, without inner functions, that bind a name."""
    for node in source.inside(scope, cst.Name):
        if node.value != name:
            continue
        owner = source.function(node) or source.module
        parent = source.parent(node)
        if isinstance(parent, (cst.FunctionDef, cst.ClassDef)):
            binds = parent.name is node
            owner = source.function(parent) or source.module
        else:
            binds = is_bound(source, node) or isinstance(parent, cst.ImportAlias)
        if binds and owner is scope:
            yield node


def is_bound(source: Source, node: cst.Name) -> bool:
    """Whether a name is bound at this node: by assignment, a loop, `as` or `:=`."""
    holder: cst.CSTNode = node
    parent = source.parent(holder)
    # Outwards through `for step, (x, y) in ...`: the parent of the whole target decides.
    while isinstance(parent, (cst.Element, cst.StarredElement, cst.Tuple, cst.List)):
        holder, parent = parent, source.parent(parent)
    # Other parts of these are read: `total += loss` does not set `loss`.
    if isinstance(parent, (cst.For, cst.AugAssign, cst.AnnAssign, cst.NamedExpr)):
        return parent.target is holder
    return isinstance(parent, (cst.AssignTarget, cst.AsName))


def assigned(source: Source, name: str, before: cst.CSTNode) -> cst.Assign | None:
    """The last assignment of a plain name before a node, in the same function or the module."""
    place = source.span(before)[0]
    scopes = (source.function(before), None)
    for scope in scopes:
        assignments = [
            node
            for node in source.all(cst.Assign)
            if source.function(node) is scope
            and len(node.targets) == 1
            and dotted(node.targets[0].target) == name
            and (source.span(node)[1] <= place or (scope is None and scopes[0] is not None))
        ]
        if assignments:
            return assignments[-1]
    return None


def is_method(call: cst.Call) -> bool:
    """Whether a call is a method call."""
    return isinstance(call.func, cst.Attribute)
