# ruff: noqa: E501  (what is pasted stays in one piece)
"""Maps and masks whose sizes do not fit: flattened ones, and those of two strides."""

import math

from .meaning import Reading
from .narrower import computed

Shape = tuple[int | None, ...]

FLATTENED_IN_A_LOSS = 256
"""Values from here on are a flattened map where they meet in a loss."""
FLATTENED = 4096
"""And anywhere: no batch, and no layer's width, is so large."""
_CHANNELS = (2, 3, 4)


def flattened(left: Shape, right: Shape, *, loss: bool) -> Reading | None:
    """Two maps that were flattened to one axis; None where they are none."""
    if len(left) != len(right) or len(left) not in {1, 2} or left[:-1] != right[:-1]:
        return None
    last = len(left) - 1
    few, many = sorted((left[last] or 0, right[last] or 0))
    least = FLATTENED_IN_A_LOSS if loss else FLATTENED
    if few < least or few == many:
        return None
    if many % few:
        return computed(
            "flattened maps of two sizes",
            few=f"{few:,}",
            many=f"{many:,}",
        )
    causes = _causes(many // few, with_batch=len(left) == 1)
    return computed(
        "flattened maps, times",
        few=f"{few:,}",
        many=f"{many:,}",
        times=many // few,
        how_sure="Mostly"
        if len(causes) == 1
        else "The sizes alone do not tell which of these it is:",
        causes="; or ".join(causes),
    )


def _causes(factor: int, *, with_batch: bool) -> list[str]:
    """What may make a map so many times as large as another."""
    causes: list[str] = []
    side = math.isqrt(factor)
    if factor in _CHANNELS or side * side != factor:
        causes.append(
            f"{factor} channels against one (a mask read as RGB or one-hot, a last layer of {factor} units, a mask without the axis of classes)"
        )
    if side * side == factor:
        causes.append(
            f"height and width {side} times as large (a stride that is not undone at the end, a loss or mask made for another image size)"
        )
    if with_batch:
        causes.append(
            f"{factor} times as many examples (a layer or loss that takes a batch of one, a batch size written into the code)"
        )
    return causes
