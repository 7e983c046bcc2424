"""A step's arguments before its first calls: unchanged values, and values that differ by device."""

import sys
from typing import Any

from tpudiag.sources.job.jax.signatures import is_ref

LOOKS = 3
"""Calls before which the arguments are looked at."""
SMALL = 16
"""Elements of what may be a key or a counter."""
SAMPLE = 4096
"""Elements of an array that are compared."""
APART = 1e-3
"""How far the values of two devices are apart, as a share, that no rounding explains."""
HALF = ("bfloat16", "float16")


class StateValues:
    """Of one function that trains; a path names a leaf of (args, kwargs)."""

    def __init__(self, jax: Any, mapped: bool) -> None:
        self._jax, self._mapped, self._numpy = jax, mapped, sys.modules["numpy"]
        self.looks = 0
        self.small: dict[str, bytes] = {}
        """The values of those that are compared whole."""
        self.fixed: set[str] = set()
        """Small arrays, keys and statistics among them, that were the same before each call."""
        self.alike: set[str] = set()
        """Arrays of which all devices had the same values before the first call."""
        self.apart: set[str] = set()
        """Those of them of which they have not any more."""
        self.raised: set[str] = set()
        """Counters of which the first call gave one that is higher by one."""
        self._counters: dict[str, list[tuple[str, int]]] = {}
        self._half: dict[str, tuple[tuple[int, ...], Any]] = {}
        self.unchanged: dict[str, float] = {}
        """Arrays in 16 bit that are no copies, and the share of them that a step left as it was."""
        self._shapes: dict[str, tuple[int, ...]] = {}

    def before(self, arguments: Any) -> None:
        """A call is about to be made."""
        leaves = self._leaves(arguments)
        if self.looks == 0:
            self._counters = self._counted(arguments)
        for path, leaf in leaves:
            if all(hasattr(leaf, each) for each in ("dtype", "shape", "size")):
                self._look(self._jax.tree_util.keystr(path), leaf)
        self.looks += 1
        if self.looks == LOOKS and self._half:
            wide = [leaf for _, leaf in leaves if str(getattr(leaf, "dtype", "")) == "float32"]
            self.unchanged = {k: v for k, v in self.unchanged.items() if not self._copied(k, wide)}

    def _leaves(self, tree: Any) -> list[tuple[Any, Any]]:
        """Its arrays and others with their paths; of a reference what it holds."""
        leaves = self._jax.tree_util.tree_flatten_with_path(tree)[0]
        return [(path, leaf[...] if is_ref(self._jax, leaf) else leaf) for path, leaf in leaves]

    def _copied(self, key: str, wide: list[Any]) -> bool:
        """Whether an array in 16 bit is but a rounded one of these in 32."""
        shape, half = self._half[key]
        samples = (self._copies(leaf)[0] for leaf in wide if tuple(leaf.shape) == shape)
        return any(self._numpy.allclose(s, half, rtol=2**-7, atol=1e-30) for s in samples)

    def _counted(self, tree: Any) -> dict[str, list[tuple[str, int]]]:
        """Whole numbers and their paths, by the name that they have in what holds them."""
        found: dict[str, list[tuple[str, int]]] = {}
        for path, leaf in self._leaves(tree):
            if str(getattr(leaf, "dtype", "")).startswith("int") and leaf.shape == ():
                one = self._jax.tree_util.keystr(path), int(leaf)
                found.setdefault(str(path[-1:]), []).append(one)
        return found

    def after(self, result: Any) -> None:
        """The first call gave this: its counters stand in the order of those that it was given."""
        made, self._counters, given = self._counted(result), {}, self._counters
        for name, before in given.items():
            pairs = zip(before, made.get(name, ()), strict=False)
            if len(before) == len(made.get(name, ())):
                self.raised |= {key for (key, was), (_, now) in pairs if now == was + 1}

    def called_beside(self, mapped: bool, result: Any) -> None:
        """Another function gave this: one of all devices may bring together what parted."""
        if not (self.apart and mapped == self._mapped):
            return
        for leaf in self._jax.tree_util.tree_leaves(result):
            shape = tuple(getattr(leaf, "shape", ()))
            if shape in self._shapes.values() and self._is_alike(leaf):
                self.apart -= {key for key, other in self._shapes.items() if other == shape}

    def _look(self, key: str, leaf: Any) -> None:
        floating = "float" in str(leaf.dtype)
        if self.looks == 0 and self._is_alike(leaf):
            self.alike.add(key)
        elif floating and key in self.alike and self._is_alike(leaf) is False:
            self.apart.add(key)
            self._shapes[key] = tuple(leaf.shape)
        if leaf.size <= (SAMPLE if floating else SMALL):
            value = b"".join(part.tobytes() for part in self._copies(leaf))
            if self.looks == 0:
                self.fixed.add(key)
            elif value != self.small.get(key):
                self.fixed.discard(key)
            self.small[key] = value
        if str(leaf.dtype) in HALF and self.looks:
            now = self._copies(leaf)[0]
            if key in self._half and now.size:
                self.unchanged[key] = float((now == self._half[key][1]).mean())
            self._half[key] = tuple(leaf.shape), now

    def _is_alike(self, leaf: Any) -> bool | None:
        """Whether all devices have the same values; None where they have no copies of it."""
        first, *others = self._copies(leaf)
        if not others:
            return None
        if "float" not in str(first.dtype):
            return all((first == other).all() for other in others)
        close = self._numpy.allclose
        return all(close(other, first, rtol=APART, atol=1e-8, equal_nan=True) for other in others)

    def _copies(self, leaf: Any) -> list[Any]:
        """Each device's copy, as far as it is compared; the first part of what is shared out."""
        if "key<" in str(leaf.dtype):
            leaf = self._jax.random.key_data(leaf)
        shards = [shard.data for shard in getattr(leaf, "addressable_shards", ())] or [leaf]
        if self._mapped and len(shards) == 1 and leaf.shape:
            parts = list(self._numpy.asarray(leaf))
        elif self._mapped or getattr(leaf, "is_fully_replicated", False):
            parts = [self._numpy.asarray(shard) for shard in shards]
        else:
            parts = [self._numpy.asarray(shards[0])]
        samples = (part.ravel()[:SAMPLE] for part in parts)
        return [s.astype("float32") if "float" in str(s.dtype) else s for s in samples]
