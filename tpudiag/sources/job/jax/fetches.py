"""Lines that fetch a result of the step, for which the host waits."""

import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from tpudiag.model import Location
from tpudiag.signals import GatheredArrays, ResultFetch
from tpudiag.signals.training_loop import FetchKind
from tpudiag.sources.job.points import Call, Library, barrier, hooks, privates, table, user_lines

MEBIBYTE = 2**20


class FetchWatch:
    """After how many steps which line of the job's waits for a result."""

    def __init__(self, steps: Callable[[], int], calls: Callable[[], int] = lambda: 0) -> None:
        self._steps, self._calls = steps, calls
        self._at: dict[tuple[FetchKind, Location], set[int]] = {}
        self._results: dict[int, object] = {}
        self._stepped_at: Location | None = None
        self._older: dict[int, weakref.ref[object]] | None = None
        """All other arrays that there were when the last step was dispatched."""
        self._gathered: dict[tuple[Location, bool], dict[int, dict[int, int]]] = {}
        """Of each line, by how many calls of the step there were."""
        self._rounds: dict[tuple[Location, bool], set[int]] = {}
        """Those after which a line fetched results of the step so."""

    def watch(self, jax: Library) -> None:
        """Hook what asks for values."""
        self._jax = jax
        hooks.around(table.JAX_ARRAY_ASKED, partial(self._asked, one=True), jax)
        hooks.around(table.JAX_VALUES_ASKED, partial(self._asked, one=False), jax)
        self._leaves = jax.tree_util.tree_leaves

    def stepped(self, results: dict[int, object], look_at_all: bool) -> None:
        """A step gave these arrays; what is made from now on and asked for is made of them."""
        self._results, self._stepped_at = results, user_lines.caller()
        if look_at_all:
            # Weak, for an id may come again.
            arrays = (array for array in self._jax.live_arrays() if id(array) not in results)
            self._older = {id(array): weakref.ref(array) for array in arrays}

    def apart(self) -> AbstractContextManager[None]:
        """What is asked for in it is no matter of the job's."""
        return hooks.instead(self, _results={})

    def saved(self, line: Location | None) -> None:
        """A line has saved a checkpoint."""
        if line is not None and self._steps():
            self._at.setdefault(("checkpoint", line), set()).add(self._steps())

    def _asked(
        self, original: Call, value: object, *args: object, one: bool, **kwargs: object
    ) -> object:
        barrier.attempt("fetch", self._note, value, one)
        return original(value, *args, **kwargs)

    def _note(self, value: Any, one: bool) -> None:
        """Count the step after which a line of the job's asks for its result."""
        if not self._results:
            return
        leaves = (value,) if one else self._leaves(value)
        shared = [a for a in leaves if getattr(a, "is_fully_replicated", True) is False]
        waits = any(map(self._of_the_step, leaves))
        location = user_lines.caller() if shared or waits else None
        # What the step calls back has its values: the loop waits for none.
        if location is None or user_lines.under(privates.CALLBACKS):
            return
        key = location, bool(shared) and user_lines.under("jax.experimental.multihost_utils")
        for array in shared:
            calls = self._calls()
            arrays = self._gathered.setdefault(key, {}).setdefault(calls, {})
            arrays[id(array)] = int(array.nbytes)
            if id(array) in self._results:
                self._rounds.setdefault(key, set()).add(calls)
        # What trains at the same line, as Keras' fit does, waits by itself.
        if waits and (user_lines.direct_caller() or location != self._stepped_at):
            self._at.setdefault(("result", location), set()).add(self._steps())

    def _of_the_step(self, leaf: Any) -> bool:
        """Whether an array is of the last step, or was made after it, and so waits for it.

        Of those made after it, numbers alone: an action that an actor takes next is needed.
        """
        if id(leaf) in self._results or self._older is None:
            return id(leaf) in self._results
        if not isinstance(leaf, self._jax.Array) or "float" not in str(leaf.dtype):
            return False
        known = self._older.get(id(leaf))
        return known is None or known() is not leaf

    def facts(self) -> tuple[ResultFetch, ...]:
        """Each line that asked, with the steps after which it did."""
        total = self._steps()
        return tuple(ResultFetch(kind, len(at), total, at_) for (kind, at_), at in self._at.items())

    def gathered(self) -> tuple[GatheredArrays, ...]:
        """Each line that fetched a mebibyte or more of arrays that are shared out."""
        return tuple(
            GatheredArrays(size, key[0], len(self._rounds.get(key, ())), key[1])
            for key, calls in self._gathered.items()
            if (size := max(sum(arrays.values()) for arrays in calls.values())) >= MEBIBYTE
        )
