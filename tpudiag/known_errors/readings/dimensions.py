"""One dimension: of a compiled step known by its bound alone, of an array that is cut unevenly."""

import re

from tpudiag.known_errors.compiled import wording

from .meaning import Reading
from .narrower import computed


def divided(text: str, begin: int, _end: int) -> Reading | None:
    """By what a dimension of a JAX array does not divide, and what would."""
    told = wording("dimensions divided").search(text, begin)
    if told is None:
        return None
    axis, parts, size = told["axis"], int(told["parts"]), int(told["size"])
    fits = -(-size // parts) * parts
    by = re.search(rf"Spec\((?:(?:None|'\w+'|\([^)]*\)),){{{axis}}}('\w+'|\([^)]*\))", text)
    figures = {"axis": axis, "size": size, "parts": parts}
    figures["by"] = f" by the mesh's axis {by[1]}" if by else ""
    return computed("array cut unevenly", fits=fits, fits_size=fits - size, **figures)


def bounded(_: dict[str, str], text: str) -> Reading | None:
    """Which dimension is known by its bound alone: the batch, or a length."""
    for shape in wording("dimensions bounded").finditer(text):
        sizes = shape[1].split(",")
        if axes := [at for at, size in enumerate(sizes) if size.startswith("<=")]:
            summed = re.search(r"all-?reduce|CrossReplicaSum", text)
            batch = "bounded batch" if axes == [0] else "bounded length"
            most = sizes[axes[0]].removeprefix("<=")
            figures = "bounded in an all-reduce" if summed else batch
            return computed(figures, shape=shape[1], bounded=axes[0], most=most)
    return None
