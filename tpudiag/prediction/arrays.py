"""Array types of HLO text: `bf16[128,224]{1,0:T(8,128)(2,1)S(1)}` and their sizes."""

import re
from dataclasses import dataclass, field
from math import prod

from tpudiag.bounded_numbers import whole

BITS = {"pred": 8, "s2": 2, "u2": 2, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "f8e4m3fn": 8,
        "f8e5m2": 8, "s16": 16, "u16": 16, "f16": 16, "bf16": 16, "s32": 32, "u32": 32, "f32": 32,
        "s64": 64, "u64": 64, "f64": 64, "c64": 64}  # fmt: skip
_ARRAY = re.compile(r"([a-z]\w*)\[([\d,<=]*)\](?:\{([\d,]*)(?::([^}]*))?\})?")
_TILE = re.compile(r"T\(([\d,*]+)\)")


@dataclass(frozen=True)
class Array:
    """One array of the program: its dimensions, and its tile where it is tiled."""

    kind: str
    dims: tuple[int, ...]
    places: tuple[int, ...] = ()
    """Dimensions from the fastest-running one on."""
    tile: tuple[int, ...] = ()
    """Lengths of the tile; its last is that of the fastest-running dimension."""
    in_hbm: bool = True
    text: str = field(default="", compare=False)
    """As the program has it."""

    @property
    def elements(self) -> int:
        """How many there are, without padding."""
        return prod(self.dims)

    @property
    def bytes(self) -> int:
        """Its size without padding."""
        return self.elements * BITS.get(self.kind, 0) // 8

    @property
    def padded_bytes(self) -> int:
        """Its size with the padding of its tiles."""
        full = list(self.dims)
        if self.is_tiled:
            for place, length in zip(self.places, reversed(self.tile), strict=False):
                full[place] = -(-full[place] // length) * length if length else full[place]
        return prod(full) * BITS.get(self.kind, 0) // 8

    @property
    def is_tiled(self) -> bool:
        """Whether it has usable tiles: a layout that names each dimension once."""
        return bool(self.tile) and sorted(self.places) == list(range(len(self.dims)))

    @property
    def hbm_bytes(self) -> int:
        """The HBM traffic of reading or writing all of it: none where it is elsewhere."""
        return self.padded_bytes if self.in_hbm else 0


def arrays(shape: str) -> tuple[Array, ...]:
    """The arrays of a type, those of a tuple one after the other."""
    return tuple(_array(match) for match in _ARRAY.finditer(shape) if match[1] in BITS)


def leading(text: str) -> Array | None:
    """The array that a text begins with."""
    match = _ARRAY.match(text)
    # Numbers of more digits than a size has are damage.
    known = match is not None and match[1] in BITS and not re.search(r"\d{19}", match[0])
    try:
        return _array(match) if match and known else None
    except ValueError:  # nor is what is no number
        return None


def _array(match: re.Match[str]) -> Array:
    """One array; a bounded dimension (`<=64`) counts as its bound."""
    layout = match[4] or ""
    tile = _TILE.search(layout)
    lengths = tile[1].split(",") if tile else []
    return Array(
        match[1],
        tuple(int(size.lstrip("<=")) for size in match[2].split(",") if size),
        tuple(int(place) for place in (match[3] or "").split(",") if place),
        # A `*` in a tile joins dimensions before tiling: their padding is not counted.
        tuple(whole(length) or 0 for length in lengths),
        # S(n) names another memory (VMEM, SMEM, the host's); HBM is unnamed.
        "S(" not in layout,
        match[0],
    )
