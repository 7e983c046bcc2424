"""The loop of the script whose body calls the training step."""

import ast
from collections.abc import Iterator
from typing import Any

from tpudiag.sources.job.points import script_text, user_lines

_SCOPES = (*script_text.LOOPS, *script_text.FUNCTIONS, ast.Lambda)
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
                if (file, line) not in self._loops:
                    self._loops[file, line] = innermost_loop(script_text.of(file), line)
                begins = self._loops[file, line]
                if begins is not None:
                    yield file, begins
            elif frame.f_code.co_name in _KERAS_LOOPS:
                # Keras makes the steps: a loop around `fit` is over epochs or folds.
                return


def innermost_loop(source: str, line: int) -> int | None:
    """The first line of the innermost loop whose body holds a line; None where there is none."""
    tree = script_text.parsed(source)
    nodes = ast.walk(tree) if tree is not None else ()
    scopes = [node for node in nodes if isinstance(node, _SCOPES) and _repeats(node, line)]
    inner = max(scopes, key=lambda node: node.lineno, default=None)
    return inner.lineno if isinstance(inner, script_text.LOOPS) else None


def _repeats(node: ast.AST, line: int) -> bool:
    """Whether a line is in the body of a loop (not its `else`), or of a function or lambda."""
    body: list[Any] | ast.AST = getattr(node, "body", node)
    parts: list[Any] = body if isinstance(body, list) else [body]
    return bool(parts[0].lineno <= line <= (parts[-1].end_lineno or 0))
