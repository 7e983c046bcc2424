"""Changes of the scaling of a replica's loss."""

import re
from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.arguments import factor
from tpudiag.fixes.edits import Edit, NoChange, argument, called, needed
from tpudiag.fixes.loops import sum_for_mean
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.source_change import Effect

NEAR = 0.01


@fix("TPU502", effect=Effect.NUMBERS, title="scale the loss by the global batch")
def scaled_loss(place: Place, source: Source) -> Iterator[Edit]:
    """Divide the loss by the replicas, or by the global batch, according to its weight."""
    value = _loss(source, place.line)
    yield _divided(source, value, _divisor(place, source, value))
    means = [c for c in source.calls if called(c) == "reduce" and _takes_mean(source, c)]
    if len(means) == 1:
        yield sum_for_mean(source, means[0])


def _takes_mean(source: Source, call: cst.Call) -> bool:
    operation = argument(call, "reduce_op", 0)
    text = source.code(operation.value) if operation is not None else ""
    return text.upper().strip("'\"").endswith("MEAN") and not text.startswith("functools")


def _divisor(place: Place, source: Source, value: cst.CSTNode) -> str:
    """The divisor of the loss, from its measured factor."""
    told = (e for e in place.finding.evidence if e.name == "loss per unit of example loss")
    weight = next(told, None)
    replicas = place.figure("replicas")
    if weight is None or not isinstance(replicas, int) or not weight.limit:
        raise NoChange("how the loss is scaled is not known")
    factor = float(weight.value) / float(weight.limit)
    nonlinear = "nothing between the loss" in place.finding.message
    if nonlinear or abs(factor / replicas - 1) <= NEAR:
        # A strategy without a name here is still the current one in its scope and replicas.
        try:
            strategy = names.strategy(source, value)
        except NoChange:
            strategy = f"{names.tensorflow(source)}.distribute.get_strategy()"
        return f"{strategy}.num_replicas_in_sync"
    if factor > replicas and (name := _global_batch(source, value)) is not None:
        return name
    raise NoChange("the loss has a weight of which only its author knows whether it is meant")


def _global_batch(source: Source, at: cst.CSTNode) -> str | None:
    """The script's name for the global batch: its batch size, or a name with `global`."""
    sizes = [
        source.code(given.value)
        for call in source.calls
        if called(call) in ("batch", "padded_batch") and call.args
        for given in [argument(call, "batch_size", 0)]
        if given is not None and names.dotted(given.value)
    ]
    known = dict.fromkeys(name for name in sizes if names.known_at(source, name, at))
    # What a function gives for each host, or replica, is batched by that one's part.
    of_parts = any("distribute_datasets_from_function" in called(call) for call in source.calls)
    if len(known) == 1 and not of_parts:
        return next(iter(known))
    return next((name for name in known if re.search("global", name, re.IGNORECASE)), None)


def _loss(source: Source, line: int | None) -> cst.BaseExpression:
    """The expression of the differentiated loss, at the line or behind its name."""
    statement = source.statement_at(line)
    gradients = source.calls_at(line, "gradient", "minimize", "compute_gradients")
    if gradients:
        target = argument(gradients[0], "target", 0) or argument(gradients[0], "loss", 0)
        made = _assigned_last(source, target.value, gradients[0]) if target is not None else None
        return needed(made, "the loss has no name whose making is seen")
    for part in statement.body if isinstance(statement, cst.SimpleStatementLine) else ():
        if isinstance(part, cst.Assign) and isinstance(part.targets[0].target, cst.Name):
            function = source.function(part)
            if function is not None:
                for call in source.inside(function, cst.Call):
                    if called(call) in ("gradient", "minimize") and call.args:
                        made = _assigned_last(source, call.args[0].value, call)
                        if made is not None:
                            return made
            return part.value
        if isinstance(part, cst.Return) and part.value is not None:
            return part.value
    raise NoChange("the line neither assigns nor returns the loss")


def _assigned_last(
    source: Source, node: cst.BaseExpression, before: cst.CSTNode
) -> cst.BaseExpression | None:
    """The last value of a name before a node, in the same function; None for a sum of parts."""
    made = names.assigned(source, names.dotted(node), before) if names.dotted(node) else None
    if made is None or source.function(made) is not source.function(before):
        return None
    parts = [
        n
        for n in source.all(cst.AugAssign)
        if names.dotted(n.target) == names.dotted(node)
        and source.function(n) is source.function(before)
    ]
    # Dividing one part would leave the others' weight unchanged.
    if parts:
        raise NoChange("the loss is added up in several statements")
    return made.value


def _divided(source: Source, value: cst.BaseExpression, divisor: str) -> Edit:
    """Divide an expression, with parentheses if necessary."""
    # These bind as tightly as division, left to right: no regrouping.
    product = isinstance(value, cst.BinaryOperation) and isinstance(
        value.operator, (cst.Multiply, cst.Divide)
    )
    text = source.written(value) if product else factor(source, value)
    return Edit(*source.whole(value), f"{text} / {divisor}")
