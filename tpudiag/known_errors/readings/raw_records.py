# ruff: noqa: E501  (what is pasted stays in one piece)
"""A reshape in the input pipeline to another number of values: what bytes of a record were read as."""

import math
from dataclasses import replace

from tpudiag.known_errors.compiled import wording

from .meaning import Reading
from .narrower import computed

_CHANNELS = {
    (4, 3): ("four channels (RGBA) where three are wanted", 3, "RGB"),
    (3, 4): ("three channels where four are wanted", 4, "RGBA"),
    (3, 1): ("three channels where one (grey) is wanted", 1, "L"),
    (1, 3): ("one channel (grey) where three are wanted", 3, "RGB"),
}
"""What an image has, by its number of values over the wanted one."""
_BYTES = {2: "int16 or float16", 4: "float32 or int32", 8: "float64 or int64"}
"""Types by their bytes."""


def read(values: int, wanted: int, text: str) -> Reading | None:
    """What the numbers say of how a record was written and read; None outside a pipeline."""
    raw = wording("raw_records raw").search(text) is not None
    if not values or not wanted or not (raw or wording("raw_records pipeline").search(text)):
        return None
    common = math.gcd(values, wanted)
    many, few = values // common, wanted // common
    said = {"values": f"{values:,}", "wanted": f"{wanted:,}", "many": many, "few": few}
    if channels := _CHANNELS.get((many, few)):
        has, channels_wanted, mode = channels
        return computed(
            "image of other channels", has=has, channels=channels_wanted, mode=mode, **said
        )
    larger = max(many, few)
    if min(many, few) > 1 or larger not in _BYTES:
        return None
    written = f"as many: each value was written as {larger} bytes ({_BYTES[larger]}) and is read as one (uint8), or as types of that proportion"
    if few != 1:
        written = f"fewer: each value is read as a type {larger} times as long as it was written in (bytes of uint8 read as {_BYTES[larger]})"
    batch = "" if raw else "; or, in a batch, its size is written into the reshape"
    told = computed("bytes of another type", times=larger, written=written + batch, **said)
    return replace(told, guess=not raw)
