"""Changes of the numbers' precision: dtype policy, the last layer, loss scaling, normalisation."""

from collections.abc import Iterator

import libcst as cst

from tpudiag.fixes import names
from tpudiag.fixes.arguments import set_argument, with_argument, without_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called, literal, needed, only
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect

POLICY = "mixed_bfloat16"
_SETTERS = ("set_global_policy", "set_policy", "set_dtype_policy", "set_global_dtype_policy")
_LAYERS = ("Dense", "Activation", "Softmax", "Conv2D", "Conv1D")
_MODELS = ("Sequential", "Model")


@fix("TPU403", effect=Effect.NUMBERS, title="compute in bfloat16", frameworks=BOTH)
def policy_before_model(place: Place, source: Source) -> Iterator[Edit]:
    """Set the policy mixed_bfloat16 before the model is built, with the last layers in float32."""
    wide = any(each.value == "float64" for each in place.finding.evidence)
    if wide or place.figure("products in float64") is not None:
        raise NoChange("where the float64 comes from, only the data tell")
    setters = source.calls_of(*_SETTERS)
    if len(setters) > 1:
        raise NoChange("the policy is set in several places")
    at = _where_models_begin(source)
    heads = list(_heads(source))
    if setters:
        setter = setters[0]
        given = setter.args[0].value if setter.args else None
        value = literal(given)
        if value == POLICY:
            if source.span(setter)[0] < source.span(at)[0] or not isinstance(
                source.parent(setter), cst.Expr
            ):
                raise NoChange("the policy is set, and the layers have a dtype of their own")
            yield source.removed(setter)
            yield source.before(at, source.code(setter))
        elif value in ("float32", "mixed_float16") and given is not None:
            yield source.replaced(given, f'"{POLICY}"')
        else:
            raise NoChange("the script chooses the policy by a value of its own")
    else:
        row = f'{names.keras(source)}.mixed_precision.set_global_policy("{POLICY}")'
        yield source.before(at, row)
    for head in heads:
        if argument(head, "dtype") is None:
            yield with_argument(source, head, "dtype", '"float32"')


def _where_models_begin(source: Source) -> cst.CSTNode:
    """The first statement of the top level that builds a model, or calls what does."""
    # With a strategy, models are built in its scope: the policy must be set before it.
    for block in source.all(cst.With):
        if any(source.code(item.item).endswith(".scope()") for item in block.items):
            return block
    outer = {call: source.class_of(call) or source.function(call) for call in source.calls}
    builds = {
        call: called(call) in _MODELS or ".layers." in f"{names.dotted(call.func)}."
        for call in source.calls
    }
    makers, more = set[str](), {of.name.value for c, of in outer.items() if of and builds[c]}
    while more - makers:
        makers |= more
        more = {of.name.value for c, of in outer.items() if of and called(c) in makers}
    for call, of in outer.items():
        if of is None and (builds[call] or called(call) in makers):
            return source.statement(call)
    raise NoChange("where the model is built is not seen in this file")


def _heads(source: Source) -> Iterator[cst.Call]:
    """The last layers of the file's models, as far as they are visible."""
    for call in source.calls_of(*_MODELS):
        if not call.args:
            continue
        name = called(call)
        if name == "Sequential" and isinstance(call.args[0].value, (cst.List, cst.Tuple)):
            elements = call.args[0].value.elements
            last = elements[-1].value if elements else None
            if isinstance(last, cst.Call) and called(last) in _LAYERS:
                yield last
        elif name == "Model":
            outputs = argument(call, "outputs", 1)
            given = outputs.value if outputs is not None else None
            several = given.elements if isinstance(given, (cst.List, cst.Tuple)) else ()
            for output in (each.value for each in several) if several else (given,):
                head = _layer_behind(source, output, call)
                if head is not None:
                    yield head
    # The file's last `add`: with several models it belongs to only one of them.
    added = [c for c in source.calls if called(c) == "add" and c.args and names.is_method(c)]
    if added and isinstance(last := added[-1].args[0].value, cst.Call) and called(last) in _LAYERS:
        yield last


def _layer_behind(source: Source, node: cst.CSTNode | None, at: cst.CSTNode) -> cst.Call | None:
    """The layer whose output an expression is: `Dense(10)(x)`, or a name for it."""
    if isinstance(node, cst.Name):
        made = names.assigned(source, node.value, at)
        node = made.value if made is not None else None
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Call):
        return node.func if called(node.func) in _LAYERS else None
    return None


@fix("TPU407", effect=Effect.NUMBERS, title="compute the last layer in float32")
def float32_head(place: Place, source: Source) -> Iterator[Edit]:
    """`dtype="float32"` for the line's layer, or for the last ones."""
    layers = [c for c in source.calls_at(place.line, *_LAYERS) if argument(c, "dtype") is None]
    heads = layers[-1:] or [h for h in _heads(source) if argument(h, "dtype") is None]
    yield from (with_argument(source, head, "dtype", '"float32"') for head in heads)
    if not heads:
        yield _cast_logits(source, place.line)


def _cast_logits(source: Source, line: int | None) -> Edit:
    """Cast the model's output to float32, where the step assigns it."""
    function = source.function(source.statement_at(line))
    for node in source.inside(function, cst.Assign) if function is not None else ():
        value = node.value
        if isinstance(value, cst.Call) and "model" in source.code(value.func).lower():
            tf = names.tensorflow(source)
            return Edit(*source.whole(value), f"{tf}.cast({source.written(value)}, {tf}.float32)")
    raise NoChange("the last layer is not seen in this file")


@fix("TPU404", effect=Effect.NUMBERS, title="without loss scaling")
def without_loss_scaling(_: Place, source: Source) -> Iterator[Edit]:
    """Use the optimizer without LossScaleOptimizer, and bfloat16 instead of float16."""
    changed = False
    for call in source.calls_of("LossScaleOptimizer", "DynamicLossScaleOptimizer"):
        yield _unwrapped(source, call)
        changed = True
    inner = source.calls_of("get_scaled_loss", "get_unscaled_gradients", "scale_loss")
    # get_scaled_loss is a method of the removed optimizer only.
    for call in inner if changed else ():
        nested = any(other is not call and other in list(source.above(call)) for other in inner)
        if len(call.args) != 1 or nested:
            raise NoChange("the loss is scaled in several steps on a line")
        first, last = source.whole(call.args[0].value)
        start, end = source.span(call)
        yield Edit(start, first, "")
        yield Edit(last, end, "")
    for text in source.all(cst.SimpleString):
        if text.evaluated_value in ("mixed_float16", "float16") and _is_policy(source, text):
            quote = text.quote
            yield source.replaced(
                text, f"{quote}{POLICY if text.evaluated_value != 'float16' else 'bfloat16'}{quote}"
            )
            changed = True
    if not changed:
        raise NoChange("what computes in float16 is not set by a policy in this file")


def _unwrapped(source: Source, call: cst.Call) -> Edit:
    """The optimizer inside a LossScaleOptimizer; removes an assignment to itself."""
    given = argument(call, "inner_optimizer", 0) or argument(call, "optimizer")
    inner = source.written(needed(given, "the optimizer inside is not given on the line").value)
    assign = source.parent(call)
    # `optimizer = LossScaleOptimizer(optimizer)` would leave `optimizer = optimizer`.
    if isinstance(assign, cst.Assign) and source.code(assign.targets[0].target) == inner:
        return source.removed(assign)
    return source.replaced(call, inner)


def _is_policy(source: Source, text: cst.SimpleString) -> bool:
    arg = source.parent(text)
    call = source.parent(arg) if isinstance(arg, cst.Arg) else None
    return isinstance(call, cst.Call) and called(call) in (*_SETTERS, "Policy", "DTypePolicy")


@fix("TPU508", effect=Effect.NUMBERS, title="normalise over all replicas")
def synchronized_batch_norm(_: Place, source: Source) -> Iterator[Edit]:
    """`synchronized=True` for each batch normalisation of the file."""
    norms = source.calls_of("BatchNormalization", "BatchNorm")
    if not norms:
        raise NoChange("the normalisations are not made in this file")
    yield from (set_argument(source, call, "synchronized", "True") for call in norms)


@fix("TPU005", effect=Effect.NONE, title="without jit_compile", figure="jit_compile")
def without_jit_compile(_: Place, source: Source) -> Iterator[Edit]:
    """compile without jit_compile=True: the strategy compiles the step itself."""
    given = [
        (call, arg)
        for call in source.calls_of("compile")
        for arg in call.args
        if arg.keyword is not None and arg.keyword.value == "jit_compile"
    ]
    one = only(given, "jit_compile is not given to the one compile of this file")
    yield without_argument(source, *one)
