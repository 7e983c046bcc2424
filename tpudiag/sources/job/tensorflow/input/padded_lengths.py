"""Tells how long the sequences of batches in a row are, without their padding."""

from collections.abc import Sequence
from typing import Any

from tpudiag.signals.input_pipeline import PaddedLength
from tpudiag.sources.job.points import Library

ALIKE = 0.99
"""The share of rows that must be a sequence and its padding: counts of words are none."""


def of_batch(tf: Library, element: object) -> list[PaddedLength | None]:
    """The longest sequence of each tensor of a batch; None for a tensor that has none."""
    return [_of_rows(tensor) for tensor in tf.nest.flatten(element)]


def worst(batches: Sequence[list[PaddedLength | None] | None]) -> PaddedLength | None:
    """Of all batches, the tensor with the most padding beside its longest sequence."""
    places = zip(*(batch or () for batch in batches), strict=False)
    seen = [
        PaddedLength(
            max(each.width for each in own),
            max(each.longest for each in own),
            sum(each.examples for each in own),
        )
        for place in places
        if len(own := [each for each in place if each is not None]) == len(batches)
    ]
    return max(seen, key=lambda each: each.width - each.longest, default=None)


def _of_rows(tensor: Any) -> PaddedLength | None:
    """Rows that end (or begin) with one and the same number, which is nowhere else in them."""
    if len(getattr(tensor, "shape", ())) != 2 or not tensor.dtype.is_integer:
        return None
    ids = tensor.numpy()
    longest: list[int] = []
    for rows in (ids, ids[:, ::-1]) if ids.size else ():
        filled = rows != rows[:1, -1:]
        lengths = filled.sum(1)
        ends = filled.shape[1] - filled[:, ::-1].argmax(1)
        if lengths.any() and ((lengths == ends) | (lengths == 0)).mean() >= ALIKE:
            longest.append(int(lengths.max()))
    return PaddedLength(ids.shape[1], min(longest), len(ids)) if longest else None
