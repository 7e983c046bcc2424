"""The loop of the script whose body calls the training step."""

import ast
import linecache
from collections.abc import Iterator
from typing import Any

from tpudiag.sources.job.points import user_lines

_LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_KERAS_LOOPS = frozenset(("fit", "fit_generator"))


class StepLoop:
    """Learns the loop from a training step's stack, and knows what else is in it.

    Calls in the body of the same loop, and in no outer one, depend on the step's number; calls
    after the loop happen once per epoch, however short the epoch is.
    """

    def __init__(self) -> None:
        self._loop: tuple[str, int] | None = None
        self._loops: dict[tuple[str, int], int | None] = {}

    def stepped(self) -> None:
        """A training step is being called."""
        self._loop = next(self._around_caller(), None)

    def holds_caller(self) -> bool:
        """Whether the current line's innermost loop is that of the steps."""
        return self._loop is not None and self._loop in self._around_caller()

    def _around_caller(self) -> Iterator[tuple[str, int]]:
        """File and line of the innermost loop in each user frame, innermost first."""
        for frame in user_lines.frames():
            file, line = frame.f_code.co_filename, frame.f_lineno
            if user_lines.is_user_file(file):
                begins = self._innermost(file, line)
                if begins is not None:
                    yield file, begins
            elif frame.f_code.co_name in _KERAS_LOOPS:
                # Keras makes the steps: a loop around `fit` is over epochs or folds.
                return

    def _innermost(self, file: str, line: int) -> int | None:
        """The first line of the loop around a line, None where a function comes between."""
        if (file, line) not in self._loops:
            self._loops[file, line] = innermost_loop("".join(linecache.getlines(file)), line)
        return self._loops[file, line]


def innermost_loop(source: str, line: int) -> int | None:
    """The first line of the innermost loop whose body holds a line; None where there is none."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return None
    holders = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (*_LOOPS, *_FUNCTIONS)) and _first(node) <= line <= _last(node)
    ]
    inner = max(holders, key=lambda node: node.lineno, default=None)
    return inner.lineno if isinstance(inner, _LOOPS) else None


def _first(node: ast.AST) -> int:
    """The first line of what is repeated, or of the function."""
    return int(getattr(_body(node)[0], "lineno", 0))


def _last(node: ast.AST) -> int:
    """The last line; of its body for a loop with an `else`."""
    return int(getattr(_body(node)[-1], "end_lineno", None) or 0)


def _body(node: ast.AST) -> list[object]:
    """Its statements; for a lambda its expression."""
    body: list[Any] | ast.AST = getattr(node, "body", node)
    return body if isinstance(body, list) else [body]
