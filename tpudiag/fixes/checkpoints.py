"""Changes that make the job save its training state."""

import re
from collections.abc import Callable, Iterator

import libcst as cst

from tpudiag.fixes import names, pipeline_chain
from tpudiag.fixes.arguments import with_argument
from tpudiag.fixes.edits import Edit, NoChange, argument, called, only
from tpudiag.fixes.loops import counter
from tpudiag.fixes.model import Place, fix
from tpudiag.fixes.source import Source
from tpudiag.model import BOTH
from tpudiag.source_change import Effect

FOLDER = "checkpoints"
EVERY = 1000
"""Steps between two checkpoints of a loop without epochs."""
_STEP = re.compile(r"(distributed_|dist_)?train(ing)?_?(one_)?(step|batch)s?|step(_fn)?")
"""Names of step functions in another module."""


def _refuse_pod(place: Place) -> None:
    """Raise NoChange where a local folder would be lost."""
    if place.hosts > 1:
        raise NoChange("on several hosts checkpoints belong in a bucket, whose name is not known")


@fix("TPU601", effect=Effect.NONE, title="save a backup of each epoch", frameworks=BOTH)
def backup_of_fit(place: Place, source: Source) -> Iterator[Edit]:
    """The callback BackupAndRestore for fit."""
    fits = source.calls_at(place.line, "fit")
    if not fits and not source.functions("train_step"):
        fits = tuple(source.calls_of("fit"))
    if len(fits) != 1 or source.functions("fit"):
        raise NoChange("")
    _refuse_pod(place)
    callback = f'{names.keras(source)}.callbacks.BackupAndRestore("{FOLDER}")'
    given = argument(fits[0], "callbacks")
    if given is None:
        yield with_argument(source, fits[0], "callbacks", f"[{callback}]")
        return
    if isinstance(given.value, cst.List):
        end = source.span(given.value)[1] - 1
        if given.value.elements:
            end = source.span(given.value.elements[-1].value)[1]
        yield Edit(end, end, f", {callback}" if given.value.elements else callback)
        return
    first, last = source.whole(given.value)
    if not isinstance(given.value, (cst.Name, cst.Attribute)):
        raise NoChange("the callbacks are made by an expression")
    yield Edit(first, last, f"[*{source.text[first:last]}, {callback}]")


@fix(
    "TPU601", effect=Effect.NONE, title="save checkpoints in the loop", figure="checkpoints set up"
)
def manager_of_loop(place: Place, source: Source) -> Iterator[Edit]:
    """A CheckpointManager before the loop that saves after each epoch or every 1000 steps."""
    loop = _training_loop(source)
    _refuse_pod(place)
    parts = list(_saved(source, loop))
    if not parts:
        raise NoChange("the model and the optimizer have no names that the loop knows")
    tf = names.tensorflow(source)
    kept = ", ".join(f"{name}={value}" for name, value in parts)
    checkpoint = pipeline_chain.fresh_name(source, "checkpoint", "training_checkpoint")
    manager = pipeline_chain.fresh_name(source, "manager", "checkpoint_manager")
    # Before the outermost loop: a manager recreated in each epoch would count from 0.
    outer = source.outermost_loop(loop) or loop
    yield source.before(
        outer,
        f"{checkpoint} = {tf}.train.Checkpoint({kept})",
        f'{manager} = {tf}.train.CheckpointManager({checkpoint}, "{FOLDER}", max_to_keep=3)',
    )
    yield _saving(source, outer, loop, manager)


def _training_loop(source: Source) -> cst.For | cst.While:
    """The one innermost plain Python loop that calls the function taking gradients."""
    traced = _traced(source)
    stepping = {
        function.name.value
        for function in source.all(cst.FunctionDef)
        if any(called(c) in ("gradient", "minimize") for c in source.inside(function, cst.Call))
    }
    for _ in range(3):
        # Three times, since a step may be called through nested functions. A function with a loop
        # of its own is the training loop, not a step, but where it is traced.
        stepping |= {
            f.name.value
            for f in source.all(cst.FunctionDef)
            if any(_mentioned(c) & stepping for c in source.inside(f, cst.Call))
            and (f.name.value in traced or not _loops(source, f))
        }
    inside = {
        loop
        for f in source.all(cst.FunctionDef)
        if f.name.value in traced
        for loop in _loops(source, f)
    }

    def loops_that_call(is_step: Callable[[cst.Call], bool]) -> list[cst.For | cst.While]:
        """The innermost plain Python loops with such a call, each once."""
        loops = (source.loop(call) for call in source.calls if is_step(call))
        return list(dict.fromkeys(x for x in loops if x is not None and x not in inside))

    loops = loops_that_call(lambda call: bool(_mentioned(call) & stepping))
    if not loops:  # the step may be in another module
        loops = loops_that_call(lambda call: bool(_STEP.fullmatch(called(call))))
    return only(loops, "the loop over the steps is not seen in this file")


def _loops(source: Source, node: cst.CSTNode) -> list[cst.For | cst.While]:
    return [*source.inside(node, cst.For), *source.inside(node, cst.While)]


def _traced(source: Source) -> set[str]:
    """The functions that are traced by a decorator or a call, and those that they call."""
    functions = source.all(cst.FunctionDef)
    given = [c for c in source.calls_of("function", "jit") if c.args]
    traced = {names.dotted(call.args[0].value).rpartition(".")[2] for call in given}
    traced |= {
        f.name.value
        for f in functions
        if any(re.search(r"\b(function|jit)\b", source.code(d.decorator)) for d in f.decorators)
    }
    for _ in range(3):
        known = [f for f in functions if f.name.value in traced]
        traced.update(*(_mentioned(c) for f in known for c in source.inside(f, cst.Call)))
    return traced


def _mentioned(call: cst.Call) -> set[str]:
    """What a call calls, or passes on to be run."""
    passed = call.args[0].value if called(call) == "run" and call.args else call.func
    return {called(call), names.dotted(passed).rpartition(".")[2]}


def _saved(source: Source, loop: cst.CSTNode) -> Iterator[tuple[str, str]]:
    optimizers = dict.fromkeys(
        source.code(call.func.value)
        for call in source.calls
        if isinstance(call.func, cst.Attribute)
        and names.dotted(call.func.value)
        and (
            called(call) in ("apply_gradients", "minimize")
            or (called(call) == "build" and "trainable_" in source.code(call))
        )
    )
    for kind, values in (("model", names.trained(source)), ("optimizer", optimizers)):
        known = [value for value in values if names.known_at(source, value, loop)]
        for number, value in enumerate(known):
            yield kind + (f"_{number + 1}" if number else ""), value


def _saving(
    source: Source, outer: cst.For | cst.While, loop: cst.For | cst.While, name: str
) -> Edit:
    """The saving statement: at the end of an epoch, or every so many steps."""
    body = outer.body
    if not isinstance(body, cst.IndentedBlock):
        raise NoChange("the loop stands on one line")
    if outer is not loop:
        return source.after(body.body[-1], f"{name}.save()")
    number = counter(source, loop)[0] if isinstance(loop, cst.While) else _counted(loop)
    rows = (f"if {number} % {EVERY} == {EVERY - 1}:", f"{source.tab}{name}.save()")
    if isinstance(loop, cst.While) or isinstance(body.body[-1], cst.If):
        return source.before(body.body[0], *rows)
    return source.after(body.body[-1], *rows)


def _counted(loop: cst.For) -> str:
    """The name of the number that a loop counts by itself."""
    target = loop.target
    number = target.elements[0].value if isinstance(target, cst.Tuple) else target
    by = loop.iter if isinstance(loop.iter, cst.Call) else None
    iterated = called(by) if by is not None else ""
    strided = by is not None and "range" in iterated and len(by.args) > 2
    known = iterated in ("range", "trange", "enumerate", "zip") and not strided
    if not known or not isinstance(number, cst.Name):
        raise NoChange("the loop counts neither steps nor epochs")
    return number.value


@fix("TPU602", effect=Effect.NONE, title="one file for each checkpoint")
def file_of_epoch(place: Place, source: Source) -> Iterator[Edit]:
    """The epoch's number in the file's name."""
    if place.figure("written") is None:
        raise NoChange("the bucket that is to hold the checkpoints is not known")
    given = argument(source.call_at(place.line, "ModelCheckpoint"), "filepath", 0)
    texts = list(source.inside(given.value, cst.SimpleString)) if given is not None else []
    if not texts:
        raise NoChange("the file's name is not written on the line")
    code = texts[-1].value
    split = re.match(
        r"(.*?)((?:\.weights)?\.(?:h5|hdf5|keras|ckpt|tf))?(['\"]+)\Z", code, re.DOTALL
    )
    if split is None or "{" in code or not split[1].strip("rRbBuU'\""):
        raise NoChange("the file's name is not written on the line")
    yield source.replaced(texts[-1], f"{split[1]}-{{epoch:04d}}{split[2] or ''}{split[3]}")
