"""Tensors that their layout's tiles pad, read from the HLO texts of operations."""

import re
from math import prod

from tpudiag.bounded_numbers import whole
from tpudiag.signals import PaddedTensor
from tpudiag.sources.profile.operations import SHAPE, OpKey, OpTotals

BITS = {"pred": 8, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "f16": 16,
        "bf16": 16, "s32": 32, "u32": 32, "f32": 32, "s64": 64, "u64": 64, "f64": 64}  # fmt: skip
TILE = re.compile(r"T\(([0-9,*]{1,99})\)")


def padded(ops: OpTotals) -> tuple[PaddedTensor, ...]:
    """Results that tiles pad, the largest loss first; each text once."""
    tensors: dict[OpKey, PaddedTensor] = {}
    for key, op in ops.items():
        text = op.description.text.partition(" = ")[2]
        shape = SHAPE.match(text)
        tensor = shape and _padded(key.name, shape)
        if tensor:
            tensors.setdefault(key, tensor)
    return tuple(sorted(tensors.values(), key=lambda t: t.logical_bytes - t.padded_bytes))


def _padded(name: str, shape: re.Match[str]) -> PaddedTensor | None:
    """Size with and without the padding of the layout's first tile; None where it has none."""
    kind, sizes, order, layout = shape.groups()
    tile = TILE.search(layout or "")
    if kind not in BITS or not sizes or not order or not tile or "S(" in (layout or ""):
        return None
    dims = [int(size) for size in sizes.split(",")]
    places = [int(place) for place in order.split(",")]
    tiles = [n for n in map(whole, tile[1].split(",")) if n is not None]
    if len(places) != len(dims) or sorted(places) != list(range(len(dims))):
        return None
    full = dims.copy()
    # minor_to_major {1,0} names the fastest dimension first, a tile T(8,128) names it last.
    for place, size in zip(places, reversed(tiles), strict=False):
        full[place] = -(-dims[place] // size) * size if size else dims[place]
    bits = BITS[kind]
    return PaddedTensor(name, shape[0], prod(dims) * bits // 8, prod(full) * bits // 8)
