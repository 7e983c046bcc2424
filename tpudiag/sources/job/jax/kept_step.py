"""The training step that ran last, kept so that it can be traced and lowered again."""

from functools import partial
from operator import is_
from typing import Any

from tpudiag.sources.job.jax.jitted import Jitted, StepCall
from tpudiag.sources.job.jax.signatures import is_ref
from tpudiag.sources.job.points import Args, Kwargs, Library, barrier


class KeptStep:
    """Its call, without the arrays that it was given."""

    def __init__(self) -> None:
        self._jax: Library
        self._arrays: Kwargs = {}
        self.step: StepCall | None = None
        self.results: dict[int, object] = {}
        """The arrays that the last training step gave, by their id."""
        self._passed_on: dict[int, object] = {}
        """Those in their place that other functions gave back since."""

    def watch(self, jax: Library) -> None:
        """JAX is there."""
        self._jax = jax

    def ran_beside(self, args: Args, kwargs: Kwargs, result: object) -> None:
        """Another function ran, which may give back the state that it took (nnx.jit does so)."""
        if self.step is None or self.step.calls > 1:
            return
        leaves, known = self._jax.tree_util.tree_leaves, self.results | self._passed_on
        taken = {_kind(leaf) for leaf in leaves((args, kwargs)) if id(leaf) in known}
        self._passed_on |= {id(leaf): leaf for leaf in leaves(result) if _kind(leaf) in taken}

    def ran(self, jitted: Jitted, args: Args, kwargs: Kwargs, new: bool) -> None:
        """Keep the training step that ran, as it can be lowered again."""
        if self.step is not None and not new and self.step.jitted is jitted:
            self.step.calls += 1
            if self.step.calls > 2:
                return
        path_leaves = self._jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
        state = frozenset(
            self._jax.tree_util.keystr(path)
            for path, leaf in path_leaves
            if id(leaf) in (self.results | self._passed_on) or is_ref(self._jax, leaf)
        )
        # Of the first call nothing is known yet: what it gives under the same name is its state.
        known_state = state if self.results or self._passed_on else None
        self._passed_on = {}
        hosted: Kwargs = {
            self._jax.tree_util.keystr(path): leaf
            for path, leaf in path_leaves
            if not isinstance(leaf, self._jax.Array) and getattr(leaf, "nbytes", 0) > 0
        }
        resent = frozenset(k for k, array in hosted.items() if self._arrays.get(k) is array)
        self._arrays = hosted
        known = self.step
        if known is not None and known.jitted is jitted and known.calls > 2 and new:
            return  # the program of most calls is the step, and a ragged last batch is not
        calls = known.calls if known is not None and known.jitted is jitted else 1
        self.step = self.as_called(jitted, args, kwargs, known_state, resent, calls)
        if calls > 1:
            self._arrays = {}

    def as_called(
        self, jitted: Jitted, args: Args, kwargs: Kwargs, state: frozenset[str] | None,
        resent: frozenset[str], calls: int,
    ) -> StepCall:  # fmt: skip
        """A call, as it can be traced and lowered again."""
        abstract = self._jax.tree_util.tree_map(partial(self._abstract, jitted), (args, kwargs))
        abstract = barrier.attempt("in_shardings", self._placed, jitted, abstract) or abstract
        return StepCall(jitted, jitted.record, abstract, state, resent, calls)

    def _placed(self, jitted: Jitted, abstract: tuple[Args, Kwargs]) -> tuple[Args, Kwargs]:
        """The arguments, those that lie nowhere yet where jax.jit was told to put them."""
        if jitted.in_shardings is None:
            return abstract
        jax, tree_map = self._jax, self._jax.tree_util.tree_map

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
        jax = self._jax
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
