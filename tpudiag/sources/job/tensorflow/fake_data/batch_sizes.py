"""How many examples a script needs for some steps of each of its loops, by the batch it names.

`STEPS = NUMBER_OF_IMAGES // BATCH_SIZE` is 0 where a stand-in has fewer than a batch, and no step
is seen.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable

from .program_text import trees

BATCHES = 6
"""Batches that data hold at least: a fifth of them, as is put aside for validation, hold one."""
_REPLICAS = 8
"""Where a script asks how many there are; most targets and all notebook hosts have so many."""
_MOST = 16_384
_BATCH = re.compile(r"batch", re.I)
_COUNTS = re.compile(r"batches|num_batch|n_batch|per_batch|steps", re.I)


def examples(texts: Iterable[str]) -> int:
    """Examples enough for the largest batch that a script's text names; 0 where it names none."""
    return BATCHES * max(map(_largest, trees(texts)), default=0)


def _largest(tree: ast.Module) -> int:
    """The largest number that is given to a name of a batch."""
    known: dict[str, int] = {}
    sizes = [0]
    for node in ast.walk(tree):
        for name, value in _named(node):
            number = _number(value, known)
            if number is None:
                continue
            known[name] = number
            if _BATCH.search(name) and not _COUNTS.search(name) and number <= _MOST:
                sizes.append(number)
    return max(sizes)


def _named(node: ast.AST) -> list[tuple[str, ast.expr]]:
    """Names, attributes or arguments with what they are given."""
    if isinstance(node, ast.Assign):
        names = [getattr(each, "id", getattr(each, "attr", "")) for each in node.targets]
        return [(name, node.value) for name in names if name]
    if isinstance(node, ast.keyword) and node.arg:
        return [(node.arg, node.value)]
    if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "batch" and node.args:
        return [("batch", node.args[0])]
    return []


def _number(node: ast.expr, known: dict[str, int]) -> int | None:
    """The whole number that an expression is; None where it cannot be told."""
    if isinstance(node, ast.Constant):
        return node.value if type(node.value) is int else None
    name = getattr(node, "id", getattr(node, "attr", ""))
    if isinstance(node, ast.Name) and name in known:
        return known[name]
    if "replicas" in name.lower():
        return _REPLICAS
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        left, right = _number(node.left, known), _number(node.right, known)
        return None if left is None or right is None else left * right
    return None
