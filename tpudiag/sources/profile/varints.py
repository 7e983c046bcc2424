"""Protobuf's numbers, many at once."""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
"""Eight bytes each, little-endian."""
_ONE, _TOP = np.uint64(1), np.uint64(56)
_MARKS = np.uint64(0x8080808080808080)
_BITS = ~_MARKS
_ONES = np.uint64(0x0101010101010101)
_STAGES = tuple(
    (np.uint64(high), np.uint64(low), np.uint64(shift))
    for high, low, shift in (
        (0x7F007F007F007F00, 0x007F007F007F007F, 1),
        (0x3FFF00003FFF0000, 0x00003FFF00003FFF, 2),
        (0x0FFFFFFF00000000, 0x000000000FFFFFFF, 4),
    )
)


def numbers(words: Words) -> tuple[Ints, Ints]:
    """The varint at the start of each word, and its length in bytes; 0 where it is longer."""
    # A varint ends at its first byte without the high bit. With that bit inverted, the lowest set
    # bit marks the end, and x & ~(x - 1) tricks find it without a loop.
    stops = ~words
    stops &= _MARKS
    below = stops - _ONE
    below &= ~stops
    # Everything below the end mark: the varint's bytes, with seven bits of each in use.
    value = words & below
    value &= _BITS
    for high, low, shift in _STAGES:
        # Squeeze out the unused eighth bits pairwise, in three steps: bytes into 14 bits, those
        # into 28, those into 56.
        upper = value & high
        upper >>= shift
        value &= low
        value |= upper
    below &= _ONES
    # One bit is left in each byte of the varint; the product with 0x0101... sums them in the top
    # byte, which is the length.
    below *= _ONES
    below >>= _TOP
    below[stops == 0] = 0
    return value.view(np.int64), below.view(np.int64)
