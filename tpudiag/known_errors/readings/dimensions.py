"""One dimension: of a compiled step known by its bound alone, of an array that is cut unevenly."""

import re

from .meaning import Reading
from .narrower import computed

_DIVIDED = re.compile(
    r"(?:arrayaxis|dimension)(?P<axis>\d{1,2})(?:is)?(?:partitioned|shouldbedivisibleby|divisibleby)(?P<parts>\d{1,6})"
    r"(?:times)?,?but(?:thedimensionsizeis|itisequalto)(?P<size>\d{1,19})"
)


def divided(text: str, begin: int, _end: int) -> Reading | None:
    """By what a dimension of a JAX array does not divide, and what would."""
    told = _DIVIDED.search(text, begin)
    if told is None:
        return None
    axis, parts, size = told["axis"], int(told["parts"]), int(told["size"])
    fits = -(-size // parts) * parts
    return computed(
        "array cut unevenly", axis=axis, size=size, parts=parts, fits=fits, fits_size=fits - size
    )


_BOUNDED = re.compile(r"[\[(]((?:(?:<=)?\d{1,19},){0,7}(?:<=)?\d{1,19})[\])]")


def bounded(_: dict[str, str], text: str) -> Reading | None:
    """Which dimension is known by its bound alone: the batch, or a length."""
    for shape in _BOUNDED.finditer(text):
        sizes = shape[1].split(",")
        if axes := [at for at, size in enumerate(sizes) if size.startswith("<=")]:
            summed = re.search(r"all-?reduce|CrossReplicaSum", text)
            batch = "bounded batch" if axes == [0] else "bounded length"
            most = sizes[axes[0]].removeprefix("<=")
            figures = "bounded in an all-reduce" if summed else batch
            return computed(figures, shape=shape[1], bounded=axes[0], most=most)
    return None
