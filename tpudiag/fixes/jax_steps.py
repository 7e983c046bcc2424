"""Changes of a JAX step: donated state, and batches of one size."""

import ast
import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.arguments import set_argument, with_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called, needed, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import Framework
from tpudiag.source_change import Effect

_ONLY = (Framework.JAX,)


@fix("TPU701", effect=Effect.NONE, title="donate the state", frameworks=_ONLY)
def donate_state(place: Place, source: Source) -> Iterator[Edit]:
    """`donate_argnames` for the step's jax.jit, where each call replaces the state."""
    given = needed(
        re.search(r"jit\((\S+), donate_argnames=(\(.*?\))\)", place.finding.fix),
        "what is donated has to be given back in its shape and dtype",
    )
    name, state = given[1].rpartition(".")[2], given[2]
    function = only(source.functions(name), "the step is not defined once in this file")
    _refuse_state_that_is_read_again(source, function, ast.literal_eval(state))
    for decorator in function.decorators:
        node = decorator.decorator
        if names.dotted(node).rpartition(".")[2] == "jit":
            partial, imports = _partial(source)
            yield from imports
            jit = source.code(node)
            yield source.replaced(node, f"{partial}({jit}, donate_argnames={state})")
            return
        if isinstance(node, cst.Call) and "jit" in source.code(node):
            yield _donating(source, node, state)
            return
    made = [
        call
        for call in source.calls
        if called(call) == "jit" and call.args and source.code(call.args[0].value) == name
    ]
    yield _donating(source, only(made, "the step's jax.jit is not found in this file"), state)


def _donating(source: Source, call: cst.Call, state: str) -> Edit:
    if argument(call, "donate_argnums") or argument(call, "donate_argnames"):
        raise NoChange("some of its arguments are donated already: which more, its author knows")
    return with_argument(source, call, "donate_argnames", state)


def _partial(source: Source) -> tuple[str, list[Edit]]:
    """The script's name for functools.partial, with the required import."""
    for name, path in names.modules(source):
        if path == "functools.partial":
            return name, []
        if path == "functools":
            return f"{name}.partial", []
    imports = [
        node
        for node in (*source.all(cst.Import), *source.all(cst.ImportFrom))
        if source.function(node) is None and "__future__" not in source.code(node)
    ]
    if not imports:
        raise NoChange("the file imports nothing at its top")
    first = min(imports, key=lambda node: source.span(node)[0])
    return "functools.partial", [source.before(first, "import functools")]


def _refuse_state_that_is_read_again(
    source: Source, function: cst.FunctionDef, state: tuple[str, ...]
) -> None:
    """Raise NoChange where a call leaves a name bound to the donated state's old arrays."""
    order = [p.name.value for p in (*function.params.posonly_params, *function.params.params)]
    known = {function.name.value}
    for node in source.all(cst.Assign):
        if isinstance(node.value, cst.Call) and "jit" in source.code(node.value.func):
            known.add(names.dotted(node.targets[0].target))
    calls = [call for call in source.calls if names.dotted(call.func) in known]
    if not calls:
        raise NoChange("the call of the step is not in this file")
    for call in calls:
        made = source.parent(call)
        if not isinstance(made, cst.Assign):
            raise NoChange("the result of the step is not assigned where it is called")
        target = made.targets[0].target
        elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        bound = {source.code(each.value) for each in elements} or {source.code(target)}
        for name in state:
            passed = argument(call, name, order.index(name) if name in order else None)
            if passed is None or source.code(passed.value) not in bound:
                raise NoChange(f"{name} is not replaced by the result of the step on its line")


@fix("TPU101", effect=Effect.ORDER, title="drop the batch that is not full", frameworks=_ONLY)
def batches_of_one_size(place: Place, source: Source) -> Iterator[Edit]:
    """`drop_remainder=True` for the tf.data batch that feeds the step."""
    if "(shape)" not in place.finding.message:
        raise NoChange("")
    calls = [call for call in source.calls if called(call) == "batch" and names.is_method(call)]
    batch = only(calls, "batches are made by no single `.batch` of this file: leave out the last")
    yield set_argument(source, batch, "drop_remainder", "True", 1)
