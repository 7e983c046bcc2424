"""How many numbers a row of a table holds, and how many rows and classes a script counts on.

Scripts write pictures and series as a table of numbers without asking for a column by its name:
`table.drop("label", axis=1).values.reshape(-1, 28, 28, 1)` says how wide such a table is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

from .program_text import trees

NARROWEST, WIDEST = 16, 16_384
"""Numbers of a row, between which a shape is taken for that of a whole row."""
MOST_ROWS = 100_000
_MOST_CLASSES = 10_000
_ARRAYS = {"values", "T", "to_numpy", "astype", "copy"}
_MAKERS = {"array", "asarray", "train_test_split", "float32"}


@dataclass(frozen=True)
class TableSize:
    """What the text tells; None where it tells nothing."""

    numbers: int | None = None
    rows: int | None = None
    classes: int | None = None
    columns: int = 0
    """Columns at least, by the positions that are asked for."""
    index: int = 0
    """The highest position of a row, or of what is made of rows, that the script asks for."""
    dropped: int = 0
    """Columns in front that the script takes off before it asks for others by name."""


def read(texts: Iterable[str], is_table: Callable[[ast.Module], set[str]]) -> TableSize:
    """The size that the scripts' texts tell; `is_table` names the tables of a module."""
    sizes = [_of_module(tree, is_table(tree)) for tree in trees(texts)]
    return TableSize(
        numbers=next((size.numbers for size in sizes if size.numbers), None),
        rows=next((size.rows for size in sizes if size.rows), None),
        classes=next((size.classes for size in sizes if size.classes), None),
        columns=max((size.columns for size in sizes), default=0),
        index=max((size.index for size in sizes), default=0),
        dropped=max((size.dropped for size in sizes), default=0),
    )


def _of_module(tree: ast.Module, tables: set[str]) -> TableSize:
    """The size that one module tells."""
    nodes = list(ast.walk(tree))
    constants = dict(_constants(nodes))
    whole = _whole(nodes, tables)
    numbers = rows = None
    for shape in _shapes(nodes, whole):
        known = [_number(each, constants) for each in shape]
        width = prod(each or 0 for each in known[1:])
        if len(known) > 2 and NARROWEST <= width <= WIDEST:
            numbers, rows = numbers or width, rows or _rows(known[0])
    return TableSize(
        numbers=numbers,
        rows=rows,
        classes=_classes(nodes, constants),
        columns=max(_column_positions(nodes, tables), default=-1) + 1,
        index=max(_positions(nodes), default=0) if tables else 0,
        dropped=max(_dropped(nodes, tables), default=0),
    )


def _dropped(nodes: Sequence[ast.AST], tables: set[str]) -> Iterator[int]:
    """Columns that a table loses in front: `table = table.iloc[:, 1:]`."""
    for node in nodes:
        for target, value in _assigned(node):
            if not isinstance(value, ast.Subscript) or not isinstance(value.slice, ast.Tuple):
                continue
            of, at = value.value, value.slice.elts[-1]
            if not isinstance(of, ast.Attribute) or not isinstance(at, ast.Slice):
                continue
            whole = of.value.id if isinstance(of.value, ast.Name) and of.attr == "iloc" else ""
            if whole in tables and isinstance(target, ast.Name) and target.id == whole:
                yield (_number(at.lower, {}) if at.lower is not None else None) or 0


def _column_positions(nodes: Sequence[ast.AST], tables: set[str]) -> Iterator[int]:
    """Positions of columns: `table.iloc[:, 1]`."""
    for node in nodes:
        if not isinstance(node, ast.Subscript) or not isinstance(node.slice, ast.Tuple):
            continue
        holder = node.value
        if isinstance(holder, ast.Attribute) and holder.attr == "iloc" and len(node.slice.elts) > 1:
            at = node.slice.elts[1]
            parts = [at.lower, at.upper] if isinstance(at, ast.Slice) else [at]
            bounds = [_number(part, {}) for part in parts if part is not None]
            if tables:
                yield from (number for number in bounds if number and number < NARROWEST)


def _positions(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """Whole numbers in square brackets, and where slices begin."""
    for node in nodes:
        if isinstance(node, ast.Subscript):
            at = node.slice.lower if isinstance(node.slice, ast.Slice) else node.slice
            number = _number(at, {}) if at is not None else None
            if number is not None and number <= MOST_ROWS // 4:
                yield number


def _rows(first: int | None) -> int | None:
    """The rows that the first number of a shape tells."""
    return first if first is not None and NARROWEST < first <= MOST_ROWS else None


def _constants(nodes: Sequence[ast.AST]) -> Iterator[tuple[str, int]]:
    """Names that stand for one whole number."""
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            for target in node.targets:
                if isinstance(target, ast.Name) and type(node.value.value) is int:
                    yield target.id, node.value.value


def _number(node: ast.AST, constants: dict[str, int]) -> int | None:
    """The number that an expression is; None for an unknown one."""
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    return constants.get(node.id) if isinstance(node, ast.Name) else None


def _whole(nodes: Sequence[ast.AST], tables: set[str]) -> set[str]:
    """Names of arrays that hold whole rows of a table."""
    whole = set(tables)
    for _ in range(4):
        for node in nodes:
            for target, value in _assigned(node):
                if _is_whole(value, whole):
                    elements = target.elts if isinstance(target, ast.Tuple) else [target]
                    whole.update(each.id for each in elements if isinstance(each, ast.Name))
    return whole


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What an assignment gives a value, each part of a tuple its own: `a, b = x, y`."""
    for target in node.targets if isinstance(node, ast.Assign) else ():
        value = node.value if isinstance(node, ast.Assign) else target
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            yield from zip(target.elts, value.elts, strict=False)
        else:
            yield target, value


def _is_whole(node: ast.AST, whole: set[str]) -> bool:
    """Whether an expression holds whole rows, or all but a few named columns."""
    if isinstance(node, ast.Name):
        return node.id in whole
    if isinstance(node, ast.BinOp):
        return _is_whole(node.left, whole)
    if isinstance(node, ast.Subscript):
        names_column = isinstance(node.slice, ast.Constant)
        return not names_column and _is_whole(node.value, whole)
    if isinstance(node, ast.Attribute):
        return node.attr in {*_ARRAYS, "iloc", "loc"} and _is_whole(node.value, whole)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr in _MAKERS and node.args:
            return _is_whole(node.args[0], whole)
        return _is_whole(node.func.value, whole)
    return (
        isinstance(node, ast.Call)
        and bool(node.args)
        and isinstance(node.func, ast.Name)
        and node.func.id in _MAKERS
        and _is_whole(node.args[0], whole)
    )


def _shapes(nodes: Sequence[ast.AST], whole: set[str]) -> Iterator[list[ast.expr]]:
    """The shapes that whole rows are brought into."""
    for node in nodes:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        if node.func.attr != "reshape":
            continue
        given = node.args
        if not _is_whole(node.func.value, whole):
            if not given or not _is_whole(given[0], whole):
                continue
            given = given[1:]
        shape = given[0] if len(given) == 1 else ast.Tuple(elts=given)
        if isinstance(shape, (ast.Tuple, ast.List)):
            yield shape.elts


def _classes(nodes: Sequence[ast.AST], constants: dict[str, int]) -> int | None:
    """The classes that the last layer, or the one-hot code of the labels, has."""
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        options = {each.arg: each.value for each in node.keywords}
        activation = options.get("activation")
        softmax = isinstance(activation, ast.Constant) and activation.value == "softmax"
        asked = [options.get("num_classes"), options.get("depth")]
        if softmax:
            asked += [*node.args[:1], options.get("units")]
        for each in asked:
            number = _number(each, constants) if each is not None else None
            if number is not None and 1 < number <= _MOST_CLASSES:
                return number
    return None


def input_shape(texts: Iterable[str]) -> tuple[int, ...]:
    """The shape of one example, as `Input(shape=...)` or `input_shape=...` tells it."""
    for tree in trees(texts):
        nodes = list(ast.walk(tree))
        constants = dict(_constants(nodes))
        for node in nodes:
            options = node.keywords if isinstance(node, ast.Call) else []
            for option in options:
                if option.arg in ("shape", "input_shape") and isinstance(option.value, ast.Tuple):
                    sizes = [_number(each, constants) for each in option.value.elts]
                    if sizes and all(sizes):
                        return tuple(size for size in sizes if size)
    return (32, 32, 3)
