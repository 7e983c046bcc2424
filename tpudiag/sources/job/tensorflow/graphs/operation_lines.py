"""The user's lines behind the operations that Keras adds to a step.

Under `fit` the stack of such an operation holds no user line. But its layer is known, and where
that was made: an operation belongs to the innermost layer whose call added it to its graph. Names
would be ambiguous, since `dense_1` may be the second scope of the layer `dense`.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import partial
from pathlib import Path

from tpudiag.model import Location
from tpudiag.sources.job.points import Call, Library, hooks, table, user_lines
from tpudiag.sources.job.points.library_objects import Graph, Operation
from tpudiag.sources.job.tensorflow.graphs import graphs
from tpudiag.sources.job.tensorflow.watches import training
from tpudiag.sources.job.tensorflow.watches.keras import KerasWatch

GRADIENT = "gradient_tape/"
"""TensorFlow prefixes a gradient's operation with this, before its operation's name."""
_ENDS = {__file__, str(Path(__file__).with_name("lowering.py")), training.__file__}
"""In a stack, frames beyond these called Keras, took gradients, or have the step lowered."""
_Lines = dict[str, set[str | None]]
"""By a name or scope; None stands for operations without a line."""


class OperationLines:
    """Records which call of Keras adds which operations, while a step is traced for lowering."""

    def __init__(self, tf: Library) -> None:
        self._tf = tf
        self._noting = False
        self._lines: dict[Graph, dict[str, str]] = {}
        """Graph -> operation -> line."""

    def watch(self, keras: Library, watch: KerasWatch) -> None:
        """Install the hooks on a Keras package."""
        for at, made_at in (
            (table.LAYER_CALLED, watch.layers.made_at),
            (table.LOSS_COMPUTED, watch.line_of),
            (table.GRADIENTS_APPLIED, watch.line_of),
        ):
            hooks.around(at, partial(self._noting_operations, made_at), keras)

    @contextlib.contextmanager
    def noted(self) -> Generator[None]:
        """Record what is added from here on, replacing earlier records."""
        self._lines = {}
        with hooks.instead(self, _noting=True):
            yield

    def of_graph(self, graph: Graph) -> dict[str, str]:
        """The line of each operation with a unique one; clears the records."""
        named: _Lines = defaultdict(set)
        for name, line in self._named(graph):
            named[name].add(line)
        self._lines = {}
        return _settled(named)

    def _named(
        self, graph: Graph, caller: str = "", inherited: str | None = None, depth: int = 0
    ) -> Iterator[tuple[str, str | None]]:
        """Names and lines of a graph's operations, and of those in functions that they call.

        An operation without a line has its function's caller's.
        """
        own = [each for each in graph.get_operations() if graphs.first_replica(each)]
        lines = {each.name: self._line(each) for each in own}
        lines |= _of_gradients(lines)
        for each in own:
            line = lines[each.name] or inherited
            yield each.name, line
            if caller:  # XLA's name after the call is inlined
                yield f"{caller}/{each.name}", line
            if each.type in graphs.BODIES and depth < graphs.DEEPEST:
                for body in graphs.bodies(graph, each):
                    yield from self._named(body, each.name, line, depth + 1)

    def _line(self, operation: Operation) -> str | None:
        """The user's line within the innermost call of Keras, or else behind that call."""
        # Reading a stack is slow, and a gradient's leads only to where it was taken.
        stack = () if GRADIENT in operation.name else operation.traceback or ()
        for frame in reversed(stack):
            inner = user_lines.of(frame.filename, frame.lineno)
            if inner is not None:
                return str(inner)
            if frame.filename in _ENDS:
                break
        return self._lines.get(operation.graph, {}).get(operation.name)

    def _noting_operations(
        self, made_at: Callable[[object], Location | None], original: Call, owner: object, /,
        *args: object, **kwargs: object,
    ) -> object:  # fmt: skip
        """A call of a method; `made_at` returns the line of its object."""
        if not self._noting:
            return original(owner, *args, **kwargs)
        graph = self._tf.compat.v1.get_default_graph()
        before = len(graph.get_operations())
        result = original(owner, *args, **kwargs)
        line = user_lines.own_caller() or made_at(owner)
        if line is not None:
            self._note(graph, graph.get_operations()[before:], line)
        return result

    def _note(self, graph: Graph, added: Iterable[Operation], line: Location) -> None:
        lines = self._lines.setdefault(graph, {})
        for operation in added:
            lines.setdefault(operation.name, str(line))


def _settled(named: _Lines) -> dict[str, str]:
    alone = ((name, next(iter(lines))) for name, lines in named.items() if len(lines) == 1)
    return {name: line for name, line in alone if line is not None}


def _of_gradients(lines: dict[str, str | None]) -> dict[str, str]:
    """The line of each gradient operation: that of the operation it differentiates.

    Its name contains that operation, or its scope, in which all operations must share one line.
    Its last part is no operation's name: `gradient_tape/Reshape` may be the gradient of a sum.
    """
    scopes: _Lines = defaultdict(set)
    for name, line in lines.items():
        if GRADIENT not in name:
            for scope in _prefixes(name):
                scopes[scope].add(line)
    owners = {
        name: next((s for s in _prefixes(name.rpartition(GRADIENT)[2])[1:] if s in scopes), "")
        for name in lines
        if GRADIENT in name
    }
    return _settled({name: scopes[owner] for name, owner in owners.items() if owner})


def _prefixes(name: str) -> list[str]:
    parts = name.split("/")
    return ["/".join(parts[:end]) for end in range(len(parts), 0, -1)]
