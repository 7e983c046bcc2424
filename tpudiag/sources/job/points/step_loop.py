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
        self._loops: dict[tuple[str, int], tuple[int | None, bool]] = {}

    def stepped(self) -> None:
        """A training step is being called."""
        self._loop = next((loop for loop, _ in self._around_caller()), None)

    def holds_caller(self, *, always: bool = False) -> bool:
        """Whether the current line's innermost loop is that of the steps.

        `always`: in each round, under no condition, as what is saved now and then is.
        """
        return any(
            loop == self._loop and not (always and seldom) for loop, seldom in self._around_caller()
        )

    def _around_caller(self) -> Iterator[tuple[tuple[str, int], bool]]:
        """File and line of the innermost loop in each user frame, innermost first.

        Beside each, whether a condition in it, or in what it calls, is on the way here.
        """
        seldom = False
        for frame in user_lines.frames():
            file, line = frame.f_code.co_filename, frame.f_lineno
            if user_lines.is_user_file(file):
                if (file, line) not in self._loops:
                    self._loops[file, line] = innermost_loop(script_text.of(file), line)
                begins, under_condition = self._loops[file, line]
                seldom |= under_condition
                if begins is not None:
                    yield (file, begins), seldom
            elif frame.f_code.co_name in _KERAS_LOOPS:
                # Keras makes the steps: a loop around `fit` is over epochs or folds.
                return


def innermost_loop(source: str, line: int) -> tuple[int | None, bool]:
    """The first line of the innermost loop whose body holds a line; None where there is none.

    And whether the line is under a condition in that loop or function.
    """
    tree = script_text.parsed(source)
    nodes = ast.walk(tree) if tree is not None else ()
    found = [node for node in nodes if isinstance(node, (*_SCOPES, ast.If)) and _holds(node, line)]
    scopes = [node for node in found if not isinstance(node, ast.If)]
    inner = max(scopes, key=lambda node: node.lineno, default=None)
    begins = inner.lineno if isinstance(inner, script_text.LOOPS) else None
    return begins, any(node.lineno > (inner.lineno if inner else 0) for node in found)


def _holds(node: ast.AST, line: int) -> bool:
    """Whether a line is in the body of a loop, a function or an `if`; of that also in its else."""
    parts: list[Any] = []
    for name in ("body", "orelse") if isinstance(node, ast.If) else ("body",):
        part = getattr(node, name, node)
        parts += part if isinstance(part, list) else [part]
    return bool(parts[0].lineno <= line <= (parts[-1].end_lineno or 0))
