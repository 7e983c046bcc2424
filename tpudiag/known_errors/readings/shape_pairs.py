# ruff: noqa: E501  (what is pasted stays in one piece)
"""How two shapes differ, and what that mostly is."""

import math

from tpudiag.bounded_numbers import whole

from . import shape_maps
from .meaning import Reading
from .narrower import computed

Shape = tuple[int | None, ...]
"""Sizes; None where one is not known."""

PIXELS = 16_384
"""A first dimension from here on is no batch."""
_REPLICAS = {2, 4, 8, 16, 32, 64, 128}
_CHANNELS = {1, 3, 4}
_PRODUCT = ("MatMul", "BatchMatMul", "BatchMatMulV2", "BatchMatMulV3")


def compared(left: Shape, right: Shape, operation: str, *, loss: bool = False) -> Reading:
    """How two shapes differ, and what that mostly is.

    `loss`: whether they meet in a loss or metric, so that one is of labels, the other of outputs.
    """
    if (0 in left) != (0 in right) or (0 in left and left != right):
        return computed("one is empty")
    if operation in _PRODUCT and min(len(left), len(right)) > 1:
        columns, rows = left[len(left) - 1], right[len(right) - 2]
        if columns != rows:
            return _of_product(left, right)
        if len(left) == len(right) > 2:  # the inner sizes fit: what is left are the batches
            return compared(left[:-2], right[:-2], "")
    if len(left) != len(right):
        return _of_ranks(*sorted((left, right), key=len), loss=loss)
    if meant := shape_maps.flattened(left, right, loss=loss):
        return meant
    # A size that is not known differs from none.
    both = tuple(enumerate(zip(left, right, strict=True)))
    differing = [at for at, (a, b) in both if a != b and None not in (a, b)] or [
        at for at, (a, b) in both if a != b
    ]
    if _is_halved(left, right, differing):
        return _of_halves(left, right)
    if len(differing) == 1:
        return of_one(left, right, differing[0], loss=loss)
    if loss and (_are_numbers(left, right) or _are_numbers(right, left)):
        outputs = left if _are_numbers(left, right) else right
        said = f"One number for each of {outputs[0]} rows {text_of(outputs)}"
        return computed("numbers meet columns", said=said, width=outputs[1])
    return _of_many(left, right, differing)


def _are_numbers(outputs: Shape, labels: Shape) -> bool:
    """Whether labels are one number for each row of outputs, in whatever axes."""
    known = None not in (*outputs, *labels) and len(outputs) == 2
    rows = math.prod(size or 0 for size in labels)
    return known and rows == outputs[0] and outputs[1] != 1


def _is_halved(left: Shape, right: Shape, differing: list[int]) -> bool:
    """Whether two maps (channels last, which may differ where they are joined) miss by one."""
    sides = [at for at in differing if at in (1, 2)]
    by = [abs((left[at] or 0) - (right[at] or 0)) for at in sides]
    return len(left) == 4 and bool(sides) and 0 not in differing and max(by) == 1


def _of_halves(left: Shape, right: Shape) -> Reading:
    """Maps of an encoder and a decoder."""
    return computed("halves of odd sizes", left=text_of(left[1:3]), right=text_of(right[1:3]))


def _of_product(left: Shape, right: Shape) -> Reading:
    """A product of matrices whose inner sizes differ."""
    columns, rows = left[len(left) - 1], right[len(right) - 2]
    said = f"In a product {columns} columns meet {rows} rows: "
    if columns is not None and columns == right[len(right) - 1]:
        said += "the second matrix would fit the other way round (transpose_b=True), or "
    return computed("product of matrices", said=said, rows=rows, columns=columns)


def _fits(some: Shape, others: Shape) -> bool:
    """Whether two shapes may be equal: a size that is not known may be any."""
    pairs = zip(some, others, strict=False)
    return len(some) == len(others) and all(a == b or None in (a, b) for a, b in pairs)


def _of_ranks(short: Shape, long: Shape, *, loss: bool) -> Reading:
    """Shapes of different numbers of dimensions."""
    if not short and not loss:
        return computed("value meets tensor", long=text_of(long))
    if not short:
        return computed("value meets tensor in a loss", long=text_of(long))
    said = f"One has {len(short)} dimension{'s' if len(short) > 1 else ''} {text_of(short)}, the other {len(long)} {text_of(long)}"
    if len(long) - len(short) == 1 and _fits(short, long[:-1]):
        width = long[len(long) - 1]
        if len(long) >= 3 and width in _CHANNELS:
            return computed("channels missing", said=said)
        if loss:
            return computed("numbers meet columns", said=said, width=width or "CLASSES")
    if (
        len(short) == 1
        and len(long) == 2
        and short[0]
        and short[0] == math.prod(size or 0 for size in long)
    ):
        return computed("columns flattened", said=said)
    if not loss and _fits(short, long[1:]):
        return computed("an axis in front", said=said, long=text_of(long))
    if loss and len(long) - len(short) > 1:
        return computed("rows meet maps", said=said)
    return computed("rank differs", said=said)


def of_one(left: Shape, right: Shape, axis: int, *, loss: bool = False) -> Reading:
    """Shapes that differ in one dimension."""
    if _is_halved(left, right, [axis]):
        return _of_halves(left, right)
    if meant := shape_maps.flattened(left, right, loss=loss):
        return meant
    a, b = left[axis], right[axis]
    said = f"They differ in dimension {axis} alone: {a or '?'} against {b or '?'}"
    if len(left) == 1 and a and b and max(a, b) % min(a, b):
        return computed("vectors", a=a, b=b, most=max(a, b))
    if axis == 0 and (len(left) > 1 or (a and b)):
        return _of_batch(a or 0, b or 0, said, alone=len(left) == 1)
    if axis == len(left) - 1:
        return _of_last(a, b, said, loss=loss)
    if axis == 1 and len(left) == 4 and a and b and max(a, b) % min(a, b) == 0:
        return computed("classes in maps", said=said, times=max(a, b) // min(a, b))
    return computed("lengths", said=said)


def _of_batch(a: int, b: int, said: str, *, alone: bool) -> Reading:
    """Shapes that differ in their first dimension; 0 stands for one that is not known."""
    few, many = sorted((a, b))
    if few > PIXELS:
        return computed("pixels", said=said)
    if few and many % few == 0 and many // few in _REPLICAS:
        return computed(
            "batch of all replicas",
            said=said,
            times=many // few,
            values=f" and holds {many // few} values (classes, steps) for each example."
            if alone
            else ".",
        )
    return computed("batch differs", said=said)


def _of_last(a: int | None, b: int | None, said: str, *, loss: bool) -> Reading:
    """Shapes that differ in their last dimension."""
    if 1 in {a, b} and loss:
        other = b if a == 1 else a
        return computed("one column of classes", said=said, other=other)
    if not loss:
        return computed("last size", said=said, b=b, a=a)
    return computed("number of classes", said=said, b=b, a=a)


def _of_many(left: Shape, right: Shape, differing: list[int]) -> Reading:
    """Shapes that differ in several dimensions."""
    axes = " and ".join(str(axis) for axis in differing)
    known_left = [size for size in left if size is not None]
    known_right = [size for size in right if size is not None]
    if sorted(known_left) == sorted(known_right) and known_left:
        return computed("transposed")
    if differing == [1, 2] and len(left) == 4:
        return computed("height and width", left=text_of(left[1:3]), right=text_of(right[1:3]))
    return computed("several dimensions", axes=axes)


def text_of(shape: Shape) -> str:
    """A shape as it is written."""
    return f"[{', '.join('?' if size is None else str(size) for size in shape)}]"


def shape_of(text: str) -> Shape:
    """A shape from its text; None for a dimension that is not known."""
    return tuple(whole(part) for part in text.split(",") if part)
