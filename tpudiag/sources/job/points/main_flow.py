"""The statements of a script's main flow that follow the current line.

The main flow is what the frames on the stack have not run yet: the module's statements after the
current one, those of `main` after the active call, and so on inwards. Statements later in a loop
may have run in an earlier iteration and are left out, as are all further in.
"""

import ast
import re
import traceback
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any

from tpudiag.signals import UnreachedLines
from tpudiag.sources.job.points import script_text, user_lines
from tpudiag.sources.job.points.script_text import holds

MOST_UNREACHED = 40
_DEFINITIONS = (
    *script_text.FUNCTIONS,
    ast.ClassDef,
    ast.Import,
    ast.ImportFrom,
    ast.Pass,
    ast.Global,
    ast.Nonlocal,
)
_TRACES = re.compile(r"jit|pmap|tf\.function")
_BLOCKS = ("body", "handlers", "orelse", "finalbody")


def unreached(frames: Iterable[tuple[str, int, int]]) -> tuple[UnreachedLines, ...]:
    """What the frames have not run yet; each is (file, first line of its code, line), outer first.

    Files that are not the user's, or cannot be read, are skipped.
    """
    rests: list[UnreachedLines] = []
    for file, first_line, line in frames:
        if not user_lines.is_user_file(file):
            continue
        statements, in_loop = after(script_text.of(file), first_line, line)
        shown = user_lines.of(file, line)
        name = shown.file if shown is not None else file
        rests.extend(UnreachedLines(name, *statement) for statement in statements)
        if in_loop:
            break
    rests.sort(key=lambda rest: (rest.file, rest.first_line))
    return tuple(rests[:MOST_UNREACHED])


def frames_of_thread(frame: FrameType | None) -> list[tuple[str, int, int]]:
    """The frames of a stack, outermost first."""
    walked = traceback.walk_stack(frame) if frame is not None else ()
    return [_place(*each) for each in reversed([*walked])]


def frames_of_traceback(passed: TracebackType | None) -> list[tuple[str, int, int]]:
    """The frames that an exception went through, outermost first."""
    return [_place(*each) for each in traceback.walk_tb(passed)]


def _place(frame: FrameType, line: int) -> tuple[str, int, int]:
    code = frame.f_code
    return code.co_filename, 0 if code.co_name == "<module>" else code.co_firstlineno, line


def mains(tree: ast.Module) -> set[str]:
    """The functions that a script's last lines call: its main flow goes on in them."""
    mains = {"main"}
    for node in tree.body:
        if isinstance(node, ast.If) and "__name__" in ast.dump(node.test):
            calls = (each for each in ast.walk(node) if isinstance(each, ast.Call))
            for call in calls:
                mains.update(
                    each.id for each in (call.func, *call.args) if isinstance(each, ast.Name)
                )
    return mains.difference(_traced(tree))


def _traced(tree: ast.Module) -> Iterator[str]:
    """The functions that are traced, as a step is: a part of a trace is not passed over."""
    for node in tree.body:
        above = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        if any(_TRACES.search(ast.unparse(each)) for each in above):
            yield getattr(node, "name", "")


def guarded(line: user_lines.Line) -> bool:
    """Whether a script goes on where a line of it fails, by a `try`."""
    tree = script_text.parsed(script_text.of(line.file))
    nodes = ast.walk(tree) if tree is not None else ()
    tries = (node for node in nodes if isinstance(node, ast.Try) and node.handlers)
    return any(
        node.body[0].lineno <= line.number <= (node.body[-1].end_lineno or 0) for node in tries
    )


def after(source: str, first_line: int, line: int) -> tuple[list[tuple[int, int, str]], bool]:
    """The statements after `line` in the function that begins at `first_line`, 0 for the module.

    Each as (first line, last line, its first line of text); and whether the line is in a loop.
    """
    tree = script_text.parsed(source)
    body = _body(tree, first_line) if tree is not None else []
    rest: list[ast.stmt] = []
    while body:
        number = next((n for n, each in enumerate(body) if holds(each, line)), None)
        if number is None:
            break
        rest.extend(body[number + 1 :])
        statement = body[number]
        # At its first line a loop has not begun: its iterable is being made.
        if isinstance(statement, script_text.LOOPS) and line > statement.lineno:
            return _shown(rest, source), True
        body, skipped = _inner(statement, line)
        rest.extend(skipped)
    return _shown(rest, source), False


def _body(tree: ast.Module, first_line: int) -> list[ast.stmt]:
    """The statements of the function whose code begins at a line, decorators included."""
    if first_line == 0:
        return tree.body
    for node in ast.walk(tree):
        if isinstance(node, script_text.FUNCTIONS):
            begins = min([node.lineno, *(each.lineno for each in node.decorator_list)])
            if begins == first_line:
                return node.body
    return []


def _inner(statement: ast.stmt, line: int) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """The block of a compound statement that holds a line, and what follows that block."""
    if isinstance(statement, (*script_text.FUNCTIONS, ast.ClassDef)):
        return [], []
    final: list[ast.stmt] = getattr(statement, "finalbody", [])
    for name in _BLOCKS:
        block: list[Any] = getattr(statement, name, [])
        held = next((each for each in block if holds(each, line)), None)
        if isinstance(held, ast.ExceptHandler):
            return held.body, final
        if held is not None:
            if isinstance(statement, ast.Try) and name == "body":
                return block, [*statement.orelse, *final]
            return block, []
    return [], []


def _shown(statements: list[ast.stmt], source: str) -> list[tuple[int, int, str]]:
    """Lines and text of the statements with an effect."""
    lines = source.splitlines()
    return [
        (each.lineno, each.end_lineno or each.lineno, lines[each.lineno - 1].strip())
        for each in statements
        if not isinstance(each, _DEFINITIONS)
        and not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))
    ]
