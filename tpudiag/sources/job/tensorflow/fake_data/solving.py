"""What a model takes that was not built yet: it is traced with one kind of values after another.

The names that it asks its input for are those of the parts of an example. What it asked for last
before a trace failed is of another kind in the next one.
"""

# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

import inspect
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from tpudiag.sources.job.points import Call, Library, hooks, privates, user_lines

from .asking import taken_apart, takes_apart
from .holes import Hole, is_open

_KINDS: tuple[tuple[tuple[int, ...], str], ...] = (
    ((), "int64"), ((8,), "float32"), ((), "string"), ((32,), "int32"), ((), "float32"),
    ((32, 32, 3), "float32"),
)  # fmt: skip
"""Shapes and types of a part: an id, features, a name, tokens, a number, a picture."""
_ALL = ""
"""The name of an example that has no parts."""
_BATCH, _MOST, _MOST_S = 2, 40, 10.0
_made: list[object] = []
"""What failed traces have made: Keras knows variables by their ids, which no others may get."""


class Whole(dict[str, Any]):
    """All that a training step of a model's own takes, by its names: labels, too."""


class Search:
    """A search for the kinds of what a model is given; `rows` are what is known of it."""

    def __init__(self, tf: Library, rows: Any) -> None:
        self._tf, self.rows = tf, rows
        self._turns: dict[Any, int] = {}
        self._asked: dict[Any, Any] = {}
        """The parts that were asked for, each with its spec, the last one last."""

    def inputs(self, model: Any) -> object:
        """The specs of what a model takes; None where it can be traced with nothing."""
        step = getattr(getattr(model, "train_step", None), "__func__", None)
        if user_lines.of_function(step) and not takes_apart(step):
            found = self._tried(model, model.train_step)
            if isinstance(found, dict):
                return Whole(found)
        tells = "training" in inspect.signature(model.call).parameters
        return self._tried(model, partial(model.call, training=True) if tells else model.call)

    def _tried(self, model: Any, call: Call) -> object:
        """The specs that a function of a model's is traced with."""
        self._turns.clear()
        ends = time.monotonic() + _MOST_S
        for _ in range(_MOST):
            self._asked.clear()
            with _unchanged(model):
                try:
                    traced = self._tf.function(lambda: call(self._example()), autograph=False)
                    self._refuse_texts(traced.get_concrete_function().graph)
                except Exception:
                    if time.monotonic() > ends or not self._turned():
                        break
                else:
                    return self._found()
        return None

    def _refuse_texts(self, graph: Any) -> None:
        """Texts that are numbers elsewhere, or the reverse, fail in a run alone."""
        casts = (each for each in graph.get_operations() if each.type == "Cast")
        if any(self._tf.string in (each.inputs[0].dtype, each.outputs[0].dtype) for each in casts):
            raise TypeError("a text is no number")

    def _found(self) -> object:
        specs = self._asked
        if _ALL in specs:
            return specs[_ALL]
        numbered = all(isinstance(name, int) for name in specs)
        return tuple(specs[at] for at in sorted(specs)) if numbered else dict(specs)

    def _turned(self) -> bool:
        """Whether there is another kind for what was asked for, the last one first."""
        for name in reversed([*self._asked] or [_ALL]):
            self._turns[name] = self._turns.get(name, -1 if name == _ALL else 0) + 1
            if self._turns[name] < len(self._kinds(name)):
                return True
            self._turns[name] = 0
        return False

    def _example(self) -> Any:
        """What the model is given: first something that has whatever part is asked of it."""
        return self.part(_ALL) if _ALL in self._turns else _Example(self)

    def part(self, name: Any) -> Any:
        """A part, of the kind whose turn it is."""
        shape, dtype = self._kinds(name)[self._turns.get(name, 0)]
        self._asked.pop(name, None)
        self._asked[name] = self._tf.TensorSpec((None, *shape), dtype)
        value = self._tf.constant("" if dtype == "string" else 0, dtype)
        return self._tf.fill((_BATCH, *shape), value)

    def _kinds(self, name: Any) -> Any:
        known: Any = self.rows.get(name) if isinstance(self.rows, dict) else None
        if known is None or not hasattr(known, "shape") or is_open(known):
            return _KINDS
        shape = tuple(known.shape)[1:]
        if not isinstance(known, Hole):
            return [(shape, known.dtype)]
        return [(shape, dtype) for dtype in ("float32", "int64", "string")]


class _Example:
    """The parts of an example, by names or numbers, each made as it is asked for."""

    def __init__(self, search: Search) -> None:
        self._search = search

    def __getitem__(self, name: Any) -> Any:
        return self._search.part(name)

    def get(self, name: str, _: object = None) -> Any:
        """As of a dict, of which a part may be taken out."""
        return self[name]

    pop = get

    def __contains__(self, name: object) -> bool:
        rows = self._search.rows
        return not isinstance(rows, dict) or name in rows

    def __iter__(self) -> Iterator[Any]:
        return map(self._search.part, range(taken_apart()))


@contextmanager
def _unchanged(model: Any) -> Generator[None]:
    """Layers have after a trace what they had before: no variables that nothing has initialised."""
    layers: list[Any] = [*privates.LAYERS.of(model, list)()]
    parts = [*layers, *filter(None, (privates.TRACKER.of(each, None) for each in layers))]
    before = [(vars(part), dict(vars(part))) for part in parts]
    for layer in layers:
        vars(layer)[privates.TAKES_OTHERS.name] = True
    filled = [
        (value, value.copy())
        for _, values in before
        for value in values.values()
        if isinstance(value, (list, dict, set))
    ]
    try:
        with ExitStack() as stack:
            for each in [of for of in vars(model).values() if hasattr(of, "apply_gradients")]:
                stack.enter_context(
                    hooks.instead(each, apply_gradients=_nothing, minimize=_nothing)
                )
            yield
    finally:
        for now, then in before:
            _made.append(dict(now))
            now.clear()
            now.update(then)
        for value, kept in filled:
            if len(value) != len(kept):
                _made.append(value.copy())
                value.clear()
                (value.extend if isinstance(value, list) else value.update)(kept)


def _nothing(*_: object, **__: object) -> None: ...
