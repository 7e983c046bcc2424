"""Where the value that a call gets was made: the last statement before it that binds its name."""

import ast
import functools
import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress

from tpudiag.model import Location
from tpudiag.signals import ArgumentChange
from tpudiag.sources.job.points import barrier, script_text, user_lines
from tpudiag.sources.job.points.script_text import holds

_SCOPES = (*script_text.FUNCTIONS, ast.Lambda)
_LOOPS = (ast.For, ast.AsyncFor, ast.comprehension)
_PARTS = (ast.Subscript, ast.Attribute, ast.Starred)


def parameters(function: Callable[..., object]) -> tuple[str, ...]:
    """The names of a function's parameters, as far as they can be had."""
    with suppress(TypeError, ValueError):
        return tuple(inspect.signature(function).parameters)
    return ()


def bound(
    function: Callable[..., object], /, *args: object, **kwargs: object
) -> inspect.BoundArguments | None:
    """A call's arguments by name; None where they do not fit."""
    with suppress(TypeError, ValueError):
        return inspect.signature(function).bind(*args, **kwargs)
    return None


def shaped_at(parameters: Sequence[str], changes: Sequence[ArgumentChange]) -> Location | None:
    """The line that made the first argument that has another shape."""
    shaped = next((change for change in changes if change.kind == "shape"), None)
    return made_at(parameters, shaped.argument) if shaped is not None else None


def made_at(parameters: Sequence[str], argument: str) -> Location | None:
    """The line that made an argument of the hooked call in progress; None of a loop's target, and
    where a library calls."""
    frame = user_lines.direct_frame()
    if frame is None or user_lines.of_frame(frame) is None:
        return None  # a library calls: the line of fit is none that gives these arguments
    file = frame.f_code.co_filename
    text, names = script_text.of(file), tuple(parameters)
    line = barrier.attempt("binding", assigned, text, frame.f_lineno, names, argument)
    return None if line is None else user_lines.of(file, line)


@functools.cache
def only_call(*names: str) -> Location | None:
    """The line of the only call in the job's files of what has one of these names."""
    texts = {file: script_text.of(file) for file in user_lines.user_files()}
    # A job may have hundreds of files: those without a name need not be parsed.
    named = (each for each in texts.items() if any(f"{name}(" in each[1] for name in names))
    trees = ((file, script_text.parsed(text)) for file, text in named)
    nodes = ((file, node) for file, tree in trees if tree is not None for node in ast.walk(tree))
    calls = ((file, node) for file, node in nodes if isinstance(node, ast.Call))
    found = [(file, node.lineno) for file, node in calls if script_text.called(node) in names]
    return user_lines.of(*found[0]) if len(found) == 1 else None


# A function that is traced anew at each step asks the same of the same script each time.
@functools.lru_cache(maxsize=256)
def assigned(source: str, line: int, parameters: tuple[str, ...], argument: str) -> int | None:
    """The same of a text and the line of the call."""
    root = re.match(r"\w+", argument)
    own = [name for name in parameters if name not in ("self", "cls")]
    tree = script_text.parsed(source)
    if tree is None:
        return None
    around = [each for each in ast.walk(tree) if isinstance(each, _SCOPES) and holds(each, line)]
    scope: ast.AST = max(around, key=lambda each: each.lineno, default=tree)
    for call in ast.walk(scope):
        if root is not None and isinstance(call, ast.Call) and holds(call, line):
            given = _given(call, own, root[0])
            attribute = given.attr if isinstance(given, ast.Attribute) else ""
            while isinstance(given, _PARTS):
                given = given.value
            if isinstance(given, ast.Name):
                made = _bound(scope, given)
                return made and (_set_once(tree, attribute) or made)
    return None


def _set_once(tree: ast.AST, attribute: str) -> int | None:
    """The line of the only statement that sets an attribute of this name."""
    named = (n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and n.attr == attribute)
    lines = [each.lineno for each in named if isinstance(each.ctx, ast.Store)]
    return lines[0] if len(lines) == 1 else None


def _given(call: ast.Call, parameters: Sequence[str], name: str) -> ast.expr | None:
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    at = parameters.index(name) if name in parameters else 0
    several = (each for each in call.args[: at + 1] if isinstance(each, ast.Starred))
    return next(several, call.args[at] if at < len(call.args) else None)


def _bound(scope: ast.AST, name: ast.Name) -> int | None:
    """The last line before a use that assigns the name; None where a loop takes it."""
    nodes = [*ast.walk(scope)]
    targets = (loop.target for loop in nodes if isinstance(loop, _LOOPS))
    taken = {id(each) for target in targets for each in ast.walk(target)}
    named = (each for each in nodes if isinstance(each, ast.Name) and each.id == name.id)
    stored = (n for n in named if isinstance(n.ctx, ast.Store) and n.lineno < name.lineno)
    last = max(stored, key=lambda each: each.lineno, default=None)
    return None if last is None or id(last) in taken else last.lineno
