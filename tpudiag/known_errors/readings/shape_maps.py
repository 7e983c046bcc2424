# ruff: noqa: E501  (what is pasted stays in one piece)
"""Maps and masks whose sizes do not fit: flattened ones, and those of two strides."""

from __future__ import annotations

import math

from .meaning import Reading

Shape = tuple[int | None, ...]

FLATTENED_IN_A_LOSS = 256
"""Values from here on are a flattened map where they meet in a loss."""
FLATTENED = 4096
"""And anywhere: no batch, and no layer's width, is so large."""
_CHANNELS = (2, 3, 4)
_PRINTED = "print(y_true.shape, y_pred.shape)      # before K.flatten or reshape: the axis that differs is the one to mend"
_RESIZED = "mask = tf.image.resize(mask, model.output_shape[1:3], method='nearest')      # height and width as the model gives them"


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
        return Reading(
            f"{few:,} and {many:,} values meet, no multiple of each other: maps that were flattened (masks and predictions), of two sizes. Either images and masks"
            " were resized differently, or the axes are in another order (channels first against last), or a stride rounds an odd size.",
            f"{_PRINTED}\n{_RESIZED}",
        )
    causes = _causes(many // few, with_batch=len(left) == 1)
    return Reading(
        f"{few:,} and {many:,} values meet, {many // few} times as many: maps that were flattened (masks and predictions). {'Mostly' if len(causes) == 1 else 'The sizes alone do not tell which of these it is:'}"
        f" {'; or '.join(causes)}.",
        f"{_PRINTED}\nmask = tf.io.decode_png(data, channels=1)      # as many channels in the mask as in the last layer\n{_RESIZED}",
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


def of_strides(left: Shape, right: Shape) -> Reading | None:
    """Maps [batch, height, width, ...] of which one is a power of two smaller; None for others."""
    scales = {_scale(left[axis] or 0, right[axis] or 0) for axis in (1, 2)}
    scale = scales.pop()
    if scales or scale < 2:
        return None
    return Reading(
        f"One map is {scale} times smaller in height and width: a pooling or stride more on that side. Targets (anchors, masks) are computed for another stride than the"
        " network has, or maps of two levels are joined.",
        f"print(model.output_shape)      # targets for this height and width: the function that computes the output's size must know all {scale}x steps of the backbone\n"
        f"x = keras.layers.UpSampling2D({scale})(x)      # or the smaller map made larger before both meet",
    )


def _scale(a: int, b: int) -> int:
    """By which power of two the larger size was halved, rounding included; 0 for another ratio."""
    few, many = sorted((a, b))
    if not few:
        return 0
    scale = 1 << round(math.log2(many / few))
    return scale if abs(many - few * scale) < scale else 0
