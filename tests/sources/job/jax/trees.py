"""Trees of tuples and dicts, as jax.tree_util walks them."""

from __future__ import annotations

from typing import Any


def with_path(tree: object, path: str = "") -> list[tuple[str, object]]:
    """Leaves of tuples and dicts, each with its path."""
    if isinstance(tree, dict):
        return [one for key, value in _items(tree) for one in with_path(value, f"{path}[{key!r}]")]
    if isinstance(tree, tuple):
        return [one for n, value in _numbered(tree) for one in with_path(value, f"{path}[{n}]")]
    return [(path, tree)]


def _items(tree: Any) -> list[tuple[object, object]]:
    return [*tree.items()]


def _numbered(tree: Any) -> list[tuple[int, object]]:
    return [*enumerate(tree)]


class TreeUtil:
    """As jax.tree_util."""

    keystr = str

    def tree_leaves(self, tree: object) -> list[object]:
        return [leaf for _, leaf in with_path(tree)]

    def tree_flatten_with_path(self, tree: object) -> tuple[list[tuple[str, object]], None]:
        return with_path(tree), None

    def tree_map(self, _: object, tree: object) -> object:
        return tree
