"""The training step that ran last, kept so that it can be traced and lowered again."""

import weakref
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from operator import is_
from typing import Any

from tpudiag.sources.job.jax.jitted import Jitted, Record, StepCall
from tpudiag.sources.job.jax.signatures import is_ref
from tpudiag.sources.job.points import Args, Kwargs, Library, barrier


class KeptStep:
    """Its call, without the arrays that it was given."""

    def __init__(self) -> None:
        self.jax: Library
        self.step: StepCall | None = None
        self._gave: dict[int, dict[int, object]] = {}
        """What the last call of each training function gave, by the function's record, and what
        other functions gave back since in its place."""
        self._took: dict[int, dict[str, Callable[[], object]]] = {}
        """What it was given, by its path."""
        self._carried: dict[int, list[bool]] = {}
        """Which of these the call before had given, in the order of the leaves."""

    def ran_beside(self, args: Args, kwargs: Kwargs, result: object) -> None:
        """Another function ran, which may give back the state that it took (nnx.jit does so)."""
        if self.step is None or self.step.calls > 1:
            return
        leaves, known = self.jax.tree_util.tree_leaves, self._gave.get(id(self.step.record), {})
        taken = {_kind(leaf) for leaf in leaves((args, kwargs)) if id(leaf) in known}
        known |= {id(leaf): leaf for leaf in leaves(result) if _kind(leaf) in taken}

    def takes_results(self, args: Args, kwargs: Kwargs) -> bool:
        """Whether a function is given what a training function gave: the model."""
        known = set[int]().union(*self._gave.values())
        return any(id(leaf) in known for leaf in self.jax.tree_util.tree_leaves((args, kwargs)))

    def gave(self, record: Record, leaves: list[object]) -> dict[int, object]:
        """A training function gave these, which its next call may take."""
        self._gave[id(record)] = {id(leaf): leaf for leaf in leaves}
        return {**self._gave[id(record)]}

    def ran(self, jitted: Jitted, args: Args, kwargs: Kwargs, new: bool) -> None:
        """Keep the training step that ran, as it can be lowered again."""
        known, record = self.step, jitted.record
        self._note_restart(record, args, kwargs)
        before = known.calls if known is not None and known.jitted is jitted else 0
        if known is not None and before:
            known.calls = before = before + (not new)
            if before > 2:
                return  # the program of most calls is the step, and a ragged last batch is not
        tree = self.jax.tree_util
        leaves = tree.tree_flatten_with_path((args, kwargs))[0]
        given = {tree.keystr(path): leaf for path, leaf in leaves}
        took, own = self._took.get(id(record)), self._gave.get(id(record), {})
        self._took[id(record)] = {key: _reference(leaf) for key, leaf in given.items()}
        in_place = {key for key, leaf in given.items() if is_ref(self.jax, leaf)}
        fed = bool(in_place) or any(id(leaf) in own for leaf in given.values())
        if known is not None and known.fed and not fed and known.record is not record:
            return  # gradients taken beside the training loop, for a plot of what was learnt
        results = set[int]().union(*self._gave.values())
        state = in_place | {key for key, leaf in given.items() if id(leaf) in results}
        same = {key for key, leaf in given.items() if took and took.get(key, object)() is leaf}
        self.step = replace(
            self.as_called(jitted, args, kwargs),
            # Of the first call nothing is known yet: what it gives under its own name is its state.
            state=frozenset(state) if results else None,
            resent=frozenset(key for key in same if hasattr(given[key], "ctypes")),
            anew=None if took is None else frozenset(given.keys() - same),
            fed=fed,
            calls=before or 1,
        )

    def _note_restart(self, record: Record, args: Args, kwargs: Kwargs) -> None:
        """Count for each part of the state how often it was begun anew while others went on, and
        how often all was.
        """
        tree, own = self.jax.tree_util, self._gave.get(id(record), {})
        leaves: list[Any] = tree.tree_leaves((args, kwargs))
        arrays = [id(leaf) for leaf in leaves if isinstance(leaf, self.jax.Array)]
        if len(arrays) > len({*arrays}):
            counts = Counter(arrays)
            given = tree.tree_flatten_with_path((args, kwargs))[0]
            record.twice |= {tree.keystr(at) for at, leaf in given if counts[id(leaf)] > 1}
        carried = [id(leaf) in own for leaf in leaves]
        changes = [*zip(self._carried.get(id(record), ()), carried, strict=False)]
        self._carried[id(record)] = carried
        record.starts += not any(carried)
        if (True, False) in changes and (True, True) in changes:
            paths = tree.tree_flatten_with_path((args, kwargs))[0]
            anew = (path for (path, _), each in zip(paths, changes, strict=False) if each == (1, 0))
            record.restarts.update(map(tree.keystr, anew))

    def as_called(self, jitted: Jitted, args: Args, kwargs: Kwargs) -> StepCall:
        """A call, as it can be traced and lowered again."""
        abstract = self.jax.tree_util.tree_map(partial(self._abstract, jitted), (args, kwargs))
        abstract = barrier.attempt("in_shardings", self._placed, jitted, abstract) or abstract
        return StepCall(jitted, jitted.record, abstract)

    def _placed(self, jitted: Jitted, abstract: tuple[Args, Kwargs]) -> tuple[Args, Kwargs]:
        """The arguments, those that lie nowhere yet where jax.jit was told to put them."""
        if jitted.in_shardings is None:
            return abstract
        jax, tree_map = self.jax, self.jax.tree_util.tree_map

        def put(sharding: object, leaf: Any) -> object:
            told = isinstance(sharding, jax.sharding.Sharding)
            if not told or getattr(leaf, "sharding", leaf) is not None:
                return leaf
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)

        def below(sharding: object, arguments: object) -> object:
            return tree_map(partial(put, sharding), arguments)

        given, named = abstract
        return tree_map(below, jitted.in_shardings, given, is_leaf=partial(is_, None)), named

    def _abstract(self, jitted: Jitted, leaf: Any) -> object:
        """An array's shape, dtype and place, for what was donated holds no values any more."""
        jax = self.jax
        if isinstance(leaf, jax.Array):
            of_mesh = getattr(leaf, "committed", True) and not jitted.mapped
            sharding = leaf.sharding if of_mesh else None
            return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)
        shape, dtype = getattr(leaf, "shape", None), getattr(leaf, "dtype", None)
        if shape is not None and dtype is not None and not is_ref(jax, leaf):
            return jax.ShapeDtypeStruct(shape, dtype)
        return leaf


def _kind(leaf: Any) -> tuple[object, object]:
    """Shape and dtype of an array."""
    return getattr(leaf, "shape", None), getattr(leaf, "dtype", None)


def _reference(leaf: Any) -> Callable[[], object]:
    """What gives an argument as long as the job has it."""
    try:
        return weakref.ref(leaf)
    except TypeError:  # of a number
        return lambda: leaf
