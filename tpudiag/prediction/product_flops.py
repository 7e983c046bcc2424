"""The multiplications of a convolution or matrix product in the TPU compiler's form.

Matrix products appear as convolutions: `window={...} dim_labels=bf_io->bf`, batched ones with a
dilated window, most of whose taps fall outside. Those take no time and are not counted.
"""

import re
from collections.abc import Sequence
from math import gcd, prod

from tpudiag.prediction.arrays import Array

_WINDOW = re.compile(r"window=\{([^}]*)\}")
_LABELS = re.compile(r"dim_labels=(\w+)_(\w+)->(\w+)")
_DOT = re.compile(r"lhs_contracting_dims=\{([\d,]*)\}")
MOST_PLACES = 1 << 20
"""The most positions examined per dimension."""
_Labelled = tuple[Array, str]
"""An array with a letter or number per dimension, as in dim_labels."""


def flops(opcode: str, operands: Sequence[Array], result: Array, attributes: str) -> int:
    """Two per multiplication of a `convolution` or `dot`, with taps inside the input only."""
    if len(operands) < 2:
        return 0
    if opcode == "dot":
        named = _DOT.search(attributes)
        contracted = [int(place) for place in named[1].split(",") if place] if named else []
        dims = operands[0].dims
        return 2 * result.elements * prod(dims[place] for place in contracted if place < len(dims))
    labels = _LABELS.search(attributes)
    if labels is None:
        return 0
    left, right, out = labels[1], labels[2], labels[3]
    taps = _taps(attributes, (operands[0], left), (operands[1], right), (result, out))
    # The kernel's, not the input's: in a grouped convolution each output sees only its group.
    channels = operands[1].dims[right.index("i")]
    kept = prod(size for size, label in zip(result.dims, out, strict=False) if label in "bf")
    return 2 * kept * channels * taps


def _taps(attributes: str, input_: _Labelled, kernel: _Labelled, result: _Labelled) -> int:
    """Pairs of output and kernel positions that hit an input, over all dimensions."""
    spatial = sorted(label for label in result[1] if label.isdigit())
    total = 1
    for number, label in enumerate(spatial):
        length, size, out = (
            array.dims[labels.index(label)] for array, labels in (input_, kernel, result)
        )
        total *= _inside(length, size, out, *_window(attributes, number, len(spatial)))
    return total


def _window(attributes: str, number: int, count: int) -> tuple[int, int, int, int]:
    """Stride, padding before, dilation of the input and of the kernel in one dimension."""
    text = _WINDOW.search(attributes)
    fields = dict(part.split("=", 1) for part in text[1].split() if "=" in part) if text else {}

    def value(name: str, default: str) -> str:
        parts = fields.get(name, "").split("x")
        return parts[number] if len(parts) == count and parts[0] else default

    return (
        int(value("stride", "1")),
        int(value("pad", "0_0").split("_")[0]),
        int(value("lhs_dilate", "1")),
        int(value("rhs_dilate", "1")),
    )


def _inside(
    length: int, kernel: int, out: int, stride: int, pad: int, dilated: int, spread: int
) -> int:
    """The pairs of one dimension that hit the dilated, padded input."""
    if min(kernel, out) > MOST_PLACES:
        raise ValueError("a window larger than any array")
    last = (length - 1) * dilated
    # Iterate over the shorter one: a kernel's gradient is a convolution whose kernel is the image.
    if kernel < out:
        return sum(_hits(tap * spread - pad, stride, out, last, dilated) for tap in range(kernel))
    return sum(_hits(at * stride - pad, spread, kernel, last, dilated) for at in range(out))


def _hits(first: int, step: int, count: int, last: int, dilated: int) -> int:
    """How many of first, first + step, ... lie in 0..last and are multiples of the dilation."""
    low = max(0, -(first // step))
    high = min(count - 1, (last - first) // step)
    shared = gcd(step, dilated)
    if high < low or first % shared:
        return 0
    period = dilated // shared
    # The first n with (first + n * step) % dilated == 0, by the modular inverse of the step.
    number = -(first // shared) * pow(step // shared, -1, period) % period if period > 1 else 0
    start = low + (number - low) % period
    return max(0, (high - start) // period + 1)
