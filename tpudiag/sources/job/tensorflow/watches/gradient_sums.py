"""Watches variables that gradients are added to, that are applied, and that nothing sets back."""

from collections.abc import Callable
from typing import Any

from tpudiag.model import Location
from tpudiag.signals.training_loop import EndlessSum
from tpudiag.sources.job.points import Library, hooks, table, user_lines
from tpudiag.sources.job.tensorflow.watches.reductions import Key, ReductionWatch, key_of

STEPS = 2
"""Steps after the first that applies: whoever sets a sum back does so before the next one."""


class GradientSumWatch:
    """Hooks the operations that read and set variables; `steps` counts those that were run."""

    def __init__(self, tf: Library, reductions: ReductionWatch, steps: Callable[[], int]) -> None:
        self._tf, self._reductions, self._steps = tf, reductions, steps
        self._added: dict[int, tuple[object, Location | None]] = {}
        """By its handle, which is kept, each that gradients are added to, and the line."""
        self._set: set[int] = set()
        self._read: dict[Key, int] = {}
        self._applied: dict[int, int] = {}
        """After how many steps it was first applied."""
        reductions.on_summed = self._apply
        hooks.before(table.VARIABLE_ADDED, self._add)
        hooks.before(table.VARIABLE_SET, self._note_set)
        hooks.after(table.VARIABLE_TAKEN, self._take, gives=True)

    def made(self, variable: Any) -> None:
        """A variable was made: its first value does not set it back."""
        self._set.discard(id(getattr(variable, "handle", None)))

    def facts(self) -> EndlessSum | None:
        """The sums that are applied, where none of them is ever set."""
        found = [n for n, step in self._applied.items() if self._steps() - step >= STEPS]
        if not found or self._set & self._applied.keys():
            return None
        return EndlessSum(len(found), self._added[found[0]][1])

    def _add(self, resource: object, value: Any, *_: object, **__: object) -> None:
        shape = None if self._tf.executing_eagerly() else getattr(value, "shape", None)
        if shape is not None and shape.rank and self._reductions.of_gradients([value]):
            self._added[id(resource)] = resource, user_lines.caller()

    def _note_set(self, resource: object, *_: object, **__: object) -> None:
        self._set.add(id(resource))

    def _take(self, value: Any, resource: object, *_: object, **__: object) -> None:
        if id(resource) in self._added and hasattr(value, "graph"):
            self._read[key_of(value)] = id(resource)

    def _apply(self, gradients: list[Any]) -> None:
        """An optimizer gets these: each a sum, or none is told of."""
        found = [self._reductions.behind([each], self._read) for each in gradients]
        # In a branch that may wait for its turn, nobody has to set them back yet.
        if None in found or not found or any(map(_in_branch, gradients)):
            return
        for key in filter(None, found):
            self._applied.setdefault(self._read[key], self._steps())


def _in_branch(tensor: Any) -> bool:
    graph = tensor.graph
    while graph is not None:
        if "cond" in str(getattr(graph, "name", "")):
            return True
        graph = getattr(graph, "outer_graph", None)
    return False
